import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { ProblemException } from './problem.exception.js';

/** Gives the app's own refusals their media type; everyone else's exceptions pass by untouched. */
@Catch(ProblemException)
export class ProblemFilter implements ExceptionFilter<ProblemException> {
  catch(problem: ProblemException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(problem.getStatus()).type('application/problem+json').json(problem.getResponse());
  }
}
