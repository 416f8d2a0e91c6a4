import { AsyncLocalStorage } from 'node:async_hooks';
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import {
  BadRequestException,
  Body,
  Controller,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
  Post,
  Res,
  UnauthorizedException,
} from '@nestjs/common';
import { EventPattern, Payload, Transport } from '@nestjs/microservices';
import {
  IdempotencyService,
  Idempotent,
  type IdempotentOperation,
  IdempotentOperations,
  Operation,
  type OutcomeEvent,
  type ReconciledAnswer,
  Reconciles,
  TransactionManager,
} from 'nestjs-idempotency';
import { EntityManager } from 'typeorm';

import { Logbook } from '../module/listening.js';
import { pay, startWorkApp, type WorkAppOptions } from '../module/work-app.js';

/** What handlers with steps, and their reconciler, do for each key. */
const plays = new Map<string, (operation: IdempotentOperation) => Promise<unknown>>();
type Reconciling = (operation: IdempotentOperation) => Promise<ReconciledAnswer | null>;

const reconcilings = new Map<string, Reconciling>();

/** What a handler has opened around its code, such as a unit of work. */
export const opened = new AsyncLocalStorage<string>();

@Injectable()
class Strict implements PipeTransform {
  transform(body: { readonly amount?: unknown }): unknown {
    if (body.amount === 'much') throw new BadRequestException('An amount is a number.');
    return body;
  }
}

@Controller()
class WatchedController {
  @Post('open')
  @Idempotent({ required: false })
  open(@TransactionManager() manager: EntityManager): Promise<unknown> {
    return pay(manager, 'unprotected', 'paid');
  }

  @Post('strict')
  @Idempotent()
  strict(@Body(Strict) body: unknown): unknown {
    return body;
  }

  @Post('by-hand')
  @Idempotent()
  byHand(@Res() response: ServerResponse): void {
    opened.run('by the handler', () => response.end('written by hand'));
  }

  @Post('private')
  @Idempotent({ authorizeReplay: () => false })
  private(): object {
    return {};
  }

  @Post('compared')
  @Idempotent({
    fingerprint: () => {
      throw new Error('It cannot be compared.');
    },
  })
  compared(): object {
    return {};
  }

  @Post('plays')
  @Idempotent({ endpoint: 'plays', transaction: 'manual' })
  play(@Operation() operation: IdempotentOperation): Promise<unknown> {
    return plays.get(operation.key)!(operation);
  }

  @EventPattern<string>('paid')
  @Idempotent({ endpoint: 'payouts', key: (context) => context.switchToRpc().getData<{ readonly run: string }>().run })
  async paid(
    @Payload() { run }: { readonly run: string },
    @TransactionManager() manager: EntityManager,
  ): Promise<void> {
    await pay(manager, run, 'paid out');
  }
}

@Injectable()
class PlaysReconciler {
  @Reconciles('plays')
  reconcile(operation: IdempotentOperation): Promise<ReconciledAnswer | null> | null {
    return reconcilings.get(operation.key)?.(operation) ?? null;
  }
}

export interface WatchedAppOptions extends Omit<WorkAppOptions, 'module' | 'configure'> {
  /** Runs each request as instrumentation of the server would; `next` is told how to end it. */
  readonly serverSpan?: (next: (end: () => void) => void) => void;
}

/** An application all of whose attempts are watched. */
export async function startWatchedApp({ serverSpan, logbook = new Logbook(), ...options }: WatchedAppOptions) {
  const events: OutcomeEvent[] = [];
  const messagePort = await freePort();
  const app = await startWorkApp({
    ...options,
    logbook,
    idempotency: {
      singleTenant: false,
      tenant,
      providerKeySecret: 'the secret of the tests',
      reconcileAfterMs: 1,
      reconcileEvery: '1d',
      sweep: false,
      onOutcome: (event) => void events.push(event),
      ...options.idempotency,
    },
    module: { controllers: [WatchedController], providers: [PlaysReconciler] },
    configure: (nest) => {
      if (serverSpan) {
        nest.use((_request: unknown, response: ServerResponse, next: () => void) =>
          serverSpan((end) => {
            // Before the client has all of it.
            response.once('prefinish', end);
            next();
          }),
        );
      }
      const transport = { transport: Transport.TCP, options: { host: '127.0.0.1', port: messagePort } } as const;
      nest.connectMicroservice(transport, { inheritAppConfig: true });
    },
  });
  await app.app.startAllMicroservices();
  return {
    ...app,
    events,
    logbook,
    messagePort,
    service: app.app.get(IdempotencyService),
    operations: app.app.get(IdempotentOperations),

    /** Sends a request whose handler does this with steps. */
    play(key: string, play: (operation: IdempotentOperation) => Promise<unknown>) {
      plays.set(key, play);
      return app.post('/plays', { key });
    },

    reconcileBy(key: string, reconciling: Reconciling): void {
      reconcilings.set(key, reconciling);
    },
  };
}

export type WatchedApp = Awaited<ReturnType<typeof startWatchedApp>>;

function tenant(context: ExecutionContext): string | undefined {
  if (context.getType() !== 'http') return 'bank';
  const headers = context.switchToHttp().getRequest<{ readonly headers: Record<string, string> }>().headers;
  if (headers['x-tenant'] === 'unknown') throw new UnauthorizedException();
  return headers['x-tenant'] === 'none' ? undefined : 'acme';
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
