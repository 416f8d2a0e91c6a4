import { ProblemException } from '../problems/problem.exception.js';

export const invalidKey = (): ProblemException =>
  new ProblemException({
    status: 400,
    code: 'invalid_key',
    title: 'Invalid key',
    detail: 'An Idempotency-Key has between 1 and 255 characters.',
  });

export const keyReused = (): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'key_reused',
    title: 'Key reused',
    detail: 'The key was sent with another request before.',
  });

export const keyInUse = (): ProblemException =>
  new ProblemException({
    status: 409,
    code: 'key_in_use',
    title: 'Key in use',
    detail: 'A call with this key is still running.',
  });
