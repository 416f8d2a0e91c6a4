import type { ValidationError } from '@nestjs/common';
import { ProblemException } from './problem.exception.js';

const INVALID_INPUT = { status: 400, code: 'invalid_input', title: 'Invalid input' } as const;

/** What was asked has members that break the rules of its DTO. */
export const invalidInput = (errors: readonly ValidationError[]): ProblemException =>
  new ProblemException({
    ...INVALID_INPUT,
    detail: 'The request has members that are missing, unknown or out of range.',
    errors: errors.map(({ property, constraints = {} }) => ({
      member: property,
      messages: Object.values(constraints),
    })),
  });

/** What was asked could not be parsed at all, or makes no sense as a whole. */
export const unreadableInput = (detail: string): ProblemException => new ProblemException({ ...INVALID_INPUT, detail });
