import { HttpException } from '@nestjs/common';

/** A refusal the caller can act on, as problem details (RFC 9457). `code` is stable; the prose is not. */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  /** When to try again, in seconds; sent as `Retry-After`. */
  readonly retryAfter?: number;
  /** Which members of the request were refused, and why. */
  readonly errors?: readonly InvalidMember[];
}

export interface InvalidMember {
  readonly member: string;
  readonly messages: readonly string[];
}

export class ProblemException extends HttpException {
  readonly code: string;
  readonly retryAfter: number | undefined;

  constructor(problem: Problem) {
    super({ type: `https://payments.example/problems/${problem.code}`, ...problem }, problem.status);
    this.code = problem.code;
    this.retryAfter = problem.retryAfter;
    this.message = problem.detail;
  }
}
