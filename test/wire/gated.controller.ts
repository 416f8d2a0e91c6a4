import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  All,
  BadRequestException,
  Body,
  Controller,
  Header,
  HttpCode,
  Injectable,
  type PipeTransform,
  Post,
  Res,
  StreamableFile,
} from '@nestjs/common';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';
import { Ledger } from './ledger.js';
import { PAYMENT } from './payloads.js';

/** Waits before the handler is entered. */
@Injectable()
class WaitingPipe implements PipeTransform<{ run: string }> {
  constructor(private readonly ledger: Ledger) {}

  async transform(body: { run: string }): Promise<{ run: string }> {
    await this.ledger.wait(body.run);
    return body;
  }
}

/** Handlers that stop in the middle until the test lets them go on. */
@Controller('gated')
export class GatedController {
  constructor(
    private readonly ledger: Ledger,
    private readonly context: IdempotencyContext,
  ) {}

  @Post('value')
  @HttpCode(202)
  @Header('X-Declared', 'by the route')
  @Header('Cache-Control', 'max-age=60')
  @Idempotent()
  async value(@Body('run') run: string): Promise<unknown> {
    await this.ledger.writeAndWait(run);
    return PAYMENT;
  }

  @Post('refusal')
  @Idempotent()
  async refusal(@Body('run') run: string): Promise<unknown> {
    await this.ledger.writeAndWait(run);
    throw new BadRequestException();
  }

  @Post('piped-in')
  @Idempotent()
  async pipedIn(@Body(WaitingPipe) { run }: { run: string }): Promise<unknown> {
    await this.ledger.write(run);
    return PAYMENT;
  }

  @Post('failing-at-first')
  @Idempotent()
  async failingAtFirst(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    if (this.ledger.entriesOf(run) < 3) throw new Error('Not yet.');
    return PAYMENT;
  }

  @Post('failing-once-answered')
  @Idempotent()
  async failingOnceAnswered(@Body('run') run: string, @Res() res: { readonly raw?: ServerResponse }): Promise<void> {
    await this.ledger.write(run);
    const response = res.raw ?? (res as ServerResponse);
    response.setHeader('Content-Type', 'text/plain');
    response.setHeader('Content-Encoding', 'gzip');
    response.end(gzipSync('paid'));
    throw new Error('The answer was given already.');
  }

  @Post('stream')
  @Idempotent()
  stream(@Body('run') run: string): StreamableFile {
    void this.ledger.write(run);
    return new StreamableFile(Readable.from(this.pieces(run), { objectMode: false }));
  }

  /** Never answers; what it is given for that is not of this framework. */
  @Post('silent')
  @Idempotent()
  async silent(@Body('run') run: string, @Res() _: unknown): Promise<void> {
    await this.ledger.writeAndWait(run);
  }

  @All('any-method')
  @Idempotent()
  anyMethod(): unknown {
    return { isActive: this.context.isActive };
  }

  private async *pieces(run: string): AsyncGenerator<string> {
    yield 'first,';
    await this.ledger.wait(run);
    yield 'second';
  }
}
