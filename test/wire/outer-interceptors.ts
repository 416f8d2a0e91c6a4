import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestTimeoutException,
} from '@nestjs/common';
import { defaultIfEmpty, defer, map, type Observable, raceWith, retry, takeUntil } from 'rxjs';
import { Ledger } from './ledger.js';

/** What a request asks for from those who stand around the library. */
export type Outer = 'timeout' | 'retry' | 'unsubscribe' | 'middleware';

interface Asking {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The gate at which an outsider waits before it interferes. */
export const interferenceIn = (run: string): string => `interference in ${run}`;

/** Interferes from outside the library's interceptor, when the test says so. */
@Injectable()
export class OuterInterceptor implements NestInterceptor {
  constructor(private readonly ledger: Ledger) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { headers } = context.switchToHttp().getRequest<Asking>();
    const interference = defer(() => this.ledger.wait(interferenceIn(headers['x-run'] ?? '')));
    switch (headers['x-outer']) {
      case 'timeout':
        return next.handle().pipe(raceWith(interference.pipe(map(timedOut))));
      case 'retry':
        return next.handle().pipe(retry(5));
      case 'unsubscribe':
        return next.handle().pipe(takeUntil(interference), defaultIfEmpty({ left: 'early' }));
      default:
        return next.handle();
    }
  }
}

function timedOut(): never {
  throw new RequestTimeoutException();
}

/** A middleware that answers in the application's place, when the test says so. */
export function answeringMiddleware(ledger: Ledger) {
  return ({ headers }: IncomingMessage, res: ServerResponse, next: () => void): void => {
    if (headers['x-outer'] === 'middleware') {
      void ledger.wait(interferenceIn(String(headers['x-run']))).then(() => {
        res.statusCode = 503;
        res.setHeader('Content-Type', 'application/json');
        res.end('{"answered":"by middleware"}');
      });
    }
    next();
  };
}
