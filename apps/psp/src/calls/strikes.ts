import { setTimeout } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Place } from '../faults/fault.js';
import { Holds } from '../faults/holds.js';
import { ProblemException } from '../problems/problem.exception.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { type Answer, answerOf } from './answer.js';
import type { LoggedCall } from './call-log.js';
import type { Outcome } from './outcome.js';

/** Lets a call suffer the fault that it took, at the three places where one can strike. */
@Injectable()
export class Strikes {
  constructor(
    private readonly holds: Holds,
    private readonly shutdown: Shutdown,
  ) {}

  /** Before anything was touched. An outcome ends the call there. */
  async before(logged: LoggedCall): Promise<Outcome | undefined> {
    const { fault } = logged;
    await this.holdAt('before', logged);
    switch (fault?.kind) {
      case 'error_before':
        return { kind: 'answer', answer: answerOf(unavailable()) };
      case 'rate_limited':
        return { kind: 'answer', answer: answerOf(rateLimited(), { 'Retry-After': String(fault.retryAfterS) }) };
      case 'cut_before':
        return { kind: 'cut' };
      case 'no_answer_before':
        return { kind: 'silence' };
      default:
        return undefined;
    }
  }

  /** When all is written and nothing committed. */
  during(logged: LoggedCall): Promise<void> {
    return this.holdAt('during', logged);
  }

  /** When all is committed and nothing answered. */
  async after(logged: LoggedCall, answer: Answer): Promise<Outcome> {
    const { fault } = logged;
    await this.holdAt('after', logged);
    switch (fault?.kind) {
      case 'slow':
        await setTimeout(fault.delayMs, undefined, { signal: this.shutdown.signal });
        return { kind: 'answer', answer };
      case 'error_after':
        return { kind: 'answer', answer: answerOf(internalError()) };
      case 'malformed':
        return { kind: 'answer', answer: { status: 200, body: answer.body.slice(0, answer.body.length / 2) } };
      case 'cut_after':
        return { kind: 'cut' };
      case 'no_answer':
        return { kind: 'silence' };
      default:
        return { kind: 'answer', answer };
    }
  }

  private async holdAt(place: Place, logged: LoggedCall): Promise<void> {
    const { fault } = logged;
    if (fault?.kind === 'hold' && fault.at === place) await this.holds.stand(logged, place);
  }
}

const unavailable = (): ProblemException =>
  new ProblemException({
    status: 503,
    code: 'unavailable',
    title: 'Unavailable',
    detail: 'The provider cannot be reached at the moment. Nothing was done.',
  });

const rateLimited = (): ProblemException =>
  new ProblemException({
    status: 429,
    code: 'rate_limited',
    title: 'Rate limited',
    detail: 'There are too many calls. Nothing was done.',
  });

/** As a real one, it does not tell whether anything was done. */
const internalError = (): ProblemException =>
  new ProblemException({
    status: 500,
    code: 'internal_error',
    title: 'Internal error',
    detail: 'Something went wrong.',
  });
