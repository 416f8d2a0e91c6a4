import {
  All,
  BadRequestException,
  Body,
  Controller,
  Delete,
  type ExecutionContext,
  Headers,
  Injectable,
  NotFoundException,
  Param,
  Patch,
  type PipeTransform,
  Post,
  Put,
  Query,
} from '@nestjs/common';
import { Idempotent } from 'nestjs-idempotency';
import { Effects } from './effects.js';

/** Lets objects through. */
@Injectable()
class ObjectPipe implements PipeTransform<unknown> {
  transform(body: unknown): unknown {
    if (typeof body !== 'object' || body === null) throw new BadRequestException('An object is needed.');
    return body;
  }
}

/** The key as it stands in a body of any kind. */
function keyInBody(context: ExecutionContext): string | undefined {
  const { body } = context.switchToHttp().getRequest<{ readonly body?: unknown }>();
  return (body as { readonly id?: string } | null | undefined)?.id;
}

/** Takes whatever comes, does one thing, and says what it was given. */
@Controller()
export class OpenController {
  constructor(private readonly effects: Effects) {}

  @Post('things')
  @Idempotent()
  create(@Headers('x-mark') mark: string, @Body() body: unknown): Promise<unknown> {
    return this.did(mark, { body });
  }

  @Post('things/:id/parts')
  @Idempotent({ claim: 'transaction' })
  createPart(@Headers('x-mark') mark: string, @Param('id') id: string, @Query() query: unknown): Promise<unknown> {
    return this.did(mark, { id, query });
  }

  @Put('things/:id')
  @Idempotent({ required: false })
  put(@Headers('x-mark') mark: string, @Param() params: unknown, @Body() body: unknown): Promise<unknown> {
    return this.did(mark, { params, body });
  }

  @Patch('things/:id')
  @Idempotent()
  patch(@Headers('x-mark') mark: string, @Body(ObjectPipe) body: unknown): Promise<unknown> {
    return this.did(mark, { body });
  }

  @Delete('things/:id')
  @Idempotent()
  async delete(@Headers('x-mark') mark: string, @Param('id') id: string): Promise<unknown> {
    const done = await this.did(mark, { id });
    // Known only now: what was done has to be undone.
    if (id !== '1' && id !== '2') throw new NotFoundException();
    return done;
  }

  @Post('webhooks')
  @Idempotent({ key: keyInBody, fingerprint: { body: 'raw' } })
  receive(@Headers('x-mark') mark: string, @Body() body: unknown): Promise<unknown> {
    return this.did(mark, { body });
  }

  @Post('picked')
  @Idempotent({ fingerprint: { headers: ['X-Api-Version', 'Content-Type'], pick: ['/a', '/__proto__/b', '/0'] } })
  pick(@Headers('x-mark') mark: string, @Body() body: unknown): Promise<unknown> {
    return this.did(mark, { body });
  }

  @Post('omitted')
  @Idempotent({ fingerprint: { omit: ['/a', '/constructor', '/0/b'] } })
  omit(@Headers('x-mark') mark: string, @Body() body: unknown): Promise<unknown> {
    return this.did(mark, { body });
  }

  @All('any')
  @Idempotent()
  any(@Headers('x-mark') mark: string, @Query() query: unknown): Promise<unknown> {
    return this.did(mark, { query });
  }

  private async did(mark: string, given: unknown): Promise<unknown> {
    await this.effects.add(mark);
    return { mark, given: textOf(given) };
  }
}

/** What can be written of it: that it is nested too deep for that is not to be this application's fault. */
function textOf(given: unknown): string {
  try {
    return JSON.stringify(given);
  } catch (error) {
    return String(error);
  }
}
