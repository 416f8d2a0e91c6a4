import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  RequestTimeoutException,
} from '@nestjs/common';
import { defer, map, type Observable, raceWith } from 'rxjs';

import { Cues } from './cues.js';

/** The application's own timeout, outside the library's interceptor; it strikes when a play says so. */
@Injectable()
export class OwnTimeout implements NestInterceptor {
  constructor(private readonly cues: Cues) {}

  intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { patienceEnds } = this.cues;
    this.cues.patienceEnds = null;
    if (!patienceEnds) return next.handle();
    return next.handle().pipe(raceWith(defer(() => patienceEnds).pipe(map(timedOut))));
  }
}

function timedOut(): never {
  throw new RequestTimeoutException();
}
