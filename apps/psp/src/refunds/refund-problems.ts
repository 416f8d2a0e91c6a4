import type { Charge } from '../charges/charge.entity.js';
import { ProblemException } from '../problems/problem.exception.js';

export const notCaptured = ({ id }: Charge): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'not_captured',
    title: 'Not captured',
    detail: `Nothing of ${id} was taken, so nothing can go back.`,
  });

export const refundExceedsCaptured = ({ captured, refunded }: Charge): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'refund_exceeds_captured',
    title: 'Refund exceeds captured amount',
    detail: `${captured - refunded} of ${captured} are left to refund.`,
  });
