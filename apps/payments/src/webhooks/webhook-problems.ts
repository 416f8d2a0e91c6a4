import { ProblemException } from '../problems/problem.exception.js';

export const signatureInvalid = (detail: string): ProblemException =>
  new ProblemException({ status: 403, code: 'signature-invalid', title: 'Signature invalid', detail });

/** Its operation has not been committed: the event is to come again. */
export const chargeNotThereYet = (): ProblemException =>
  new ProblemException({
    status: 503,
    code: 'charge-not-there-yet',
    title: 'Charge not there yet',
    detail: 'The event tells of a charge that is not booked yet. Send it again.',
    retryAfter: 1,
  });
