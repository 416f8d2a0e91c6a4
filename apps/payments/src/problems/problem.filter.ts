import { type ArgumentsHost, BadRequestException, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { unreadableInput } from './invalid-input.js';
import { ProblemException } from './problem.exception.js';

/** Answers with the app's own refusals, and Nest's for a body that is not JSON. All other exceptions pass by. */
@Catch(ProblemException, BadRequestException)
export class ProblemFilter implements ExceptionFilter {
  catch(exception: ProblemException | BadRequestException, host: ArgumentsHost): void {
    const problem = exception instanceof ProblemException ? exception : unreadableInput(exception.message);
    const response = host.switchToHttp().getResponse<Response>();
    if (problem.retryAfter !== undefined) response.set('Retry-After', String(problem.retryAfter));
    response.status(problem.getStatus()).type('application/problem+json').json(problem.getResponse());
  }
}
