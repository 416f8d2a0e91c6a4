import type { ValidationError } from '@nestjs/common';
import { ProblemException } from './problem.exception.js';

export const invalidInput = (errors: readonly ValidationError[]): ProblemException =>
  new ProblemException({
    status: 400,
    code: 'invalid-input',
    title: 'Invalid input',
    detail: 'The request has members that are missing, unknown or out of range.',
    errors: errors.map(({ property, constraints = {} }) => ({
      member: property,
      messages: Object.values(constraints),
    })),
  });
