import { IdempotencyError } from '../core/errors.js';
import type { RecordedHeader } from '../core/recording.js';
import { type Problem, PROBLEM_TYPE, problemHeaders, problemOf, type ProblemOptions } from '../http/problem.js';
import type { OwnAnswer } from '../http/wire/wire-answer.js';
import { IdempotencyException } from './idempotency.exception.js';
import type { HttpExchange } from './http-exchange.js';

/** Turns errors into answers: ones the application's filters give, and ones the library has to give itself. */
export class Problems {
  constructor(private readonly options: ProblemOptions) {}

  /** The exception to throw, its headers already set on the answer that some filter will give. */
  exception(error: IdempotencyError, exchange: HttpExchange): IdempotencyException {
    const problem = this.problem(error, exchange);
    if (!exchange.response.headersSent) exchange.announce(problem, problemHeaders(problem, this.options));
    return new IdempotencyException(error, problem);
  }

  /** The complete answer, for when the filters have already run. */
  answer(error: IdempotencyError, exchange: HttpExchange): OwnAnswer {
    const problem = this.problem(error, exchange);
    const headers: RecordedHeader[] = [['Content-Type', PROBLEM_TYPE], ...problemHeaders(problem, this.options)];
    return { status: problem.status, headers, body: JSON.stringify(problem) };
  }

  private problem(error: IdempotencyError, { request }: HttpExchange): Problem {
    return problemOf(error, this.options, request.url?.split('?', 1)[0]);
  }
}
