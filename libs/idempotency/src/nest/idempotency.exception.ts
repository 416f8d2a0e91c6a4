import { HttpException } from '@nestjs/common';

import type { IdempotencyError, IdempotencyErrorCode } from '../core/errors.js';
import type { Problem } from '../http/problem.js';

/** A refusal or a fault as the application's exception filters see it; its response is a problem (RFC 9457). */
export class IdempotencyException extends HttpException {
  readonly code: IdempotencyErrorCode;

  constructor(
    error: IdempotencyError,
    readonly problem: Problem,
  ) {
    super(problem, problem.status, { cause: error.cause ?? error, description: problem.title });
    this.code = error.code;
    this.message = error.message;
  }
}
