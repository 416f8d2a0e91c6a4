import {
  type ArgumentsHost,
  BadRequestException,
  Body,
  Catch,
  Controller,
  type ExceptionFilter,
  Headers,
  HttpException,
  Injectable,
  type PipeTransform,
  Post,
  Res,
  UseFilters,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Idempotent, TransactionManager } from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';
import { ENDINGS, type EndingName } from './endings.js';
import { Stage } from './stage.js';

/** What this file needs of Express' response and of Fastify's reply. */
interface Reply {
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

class DoneBefore extends Error {
  constructor(readonly attempt: string) {
    super();
  }
}

/** Makes a success of an error. */
@Injectable()
@Catch(DoneBefore)
class DoneBeforeFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch({ attempt }: DoneBefore, host: ArgumentsHost): void {
    const response: unknown = host.switchToHttp().getResponse();
    this.host.httpAdapter.reply(response, { attempt }, ENDINGS['made a success by a filter'].status);
  }
}

class FitPipe implements PipeTransform<{ amount: unknown }> {
  transform(body: { amount: unknown }): { amount: unknown } {
    if (!Number.isInteger(body.amount)) throw new BadRequestException('The amount is not a whole number.');
    return body;
  }
}

/** Handlers that write one row, and then end as the test has them end. */
@Controller()
@UseFilters(DoneBeforeFilter)
export class WorksController {
  constructor(private readonly stage: Stage) {}

  @Post('payments')
  @Idempotent({ endpoint: 'payments' })
  pay(
    @Body(FitPipe) _: unknown,
    @Headers('x-attempt') attempt: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<unknown> {
    return this.perform(attempt, manager, reply);
  }

  @Post('accounts/:account/debits')
  @Idempotent({ endpoint: 'debits' })
  debit(
    @Body(FitPipe) _: unknown,
    @Headers('x-attempt') attempt: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<unknown> {
    return this.perform(attempt, manager, reply);
  }

  @Post('transfers')
  @Idempotent({ endpoint: 'transfers', claim: 'transaction' })
  transfer(
    @Body(FitPipe) _: unknown,
    @Headers('x-attempt') attempt: string,
    @TransactionManager() manager: EntityManager,
    @Res({ passthrough: true }) reply: Reply,
  ): Promise<unknown> {
    return this.perform(attempt, manager, reply);
  }

  private async perform(attempt: string, manager: EntityManager, reply: Reply): Promise<unknown> {
    const scene = this.stage.sceneOf(attempt);
    const [{ backend }] = await manager.query<[{ backend: number }]>(
      'INSERT INTO effects (attempt) VALUES ($1) RETURNING pg_backend_pid() AS backend',
      [attempt],
    );
    scene.entered.open(backend);
    return end(await scene.ending.passed, attempt, manager, reply);
  }
}

async function end(ending: EndingName, attempt: string, manager: EntityManager, reply: Reply): Promise<unknown> {
  switch (ending) {
    case 'done':
      reply.header('Location', `/works/${attempt}`);
      reply.header('Set-Cookie', `seen=${attempt}`);
      reply.header('X-Request-Cost', attempt);
      return { attempt };
    case 'done, nothing to say':
      reply.status(204);
      return undefined;
    case 'chose a refusal':
    case 'chose a failure':
      reply.status(ENDINGS[ending].status);
      return { attempt };
    case 'of an error':
      throw new Error('The handler broke.');
    case 'made a success by a filter':
      throw new DoneBefore(attempt);
    case 'gave way to another transaction':
      return manager.query(`DO $$ BEGIN RAISE EXCEPTION 'give way' USING ERRCODE = '40001'; END $$`);
    case 'returned what nobody can serialise': {
      const circle: Record<string, unknown> = { attempt };
      return Object.assign(circle, { circle });
    }
    case 'swallowed a database error':
      await manager.query('SELECT 1 / 0').catch(() => undefined);
      return { attempt };
    default:
      throw new HttpException({ attempt }, ENDINGS[ending].status);
  }
}
