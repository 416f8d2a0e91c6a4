import { ProblemException } from '../problems/problem.exception.js';
import type { Payment } from './payment.entity.js';

export const sameAccount = (id: string): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'same-account',
    title: 'Same account',
    detail: `${id} cannot pay itself.`,
  });

export const paymentNotFound = (id: string): ProblemException =>
  new ProblemException({
    status: 404,
    code: 'payment-not-found',
    title: 'Payment not found',
    detail: `There is no payment ${id}.`,
  });

export const refundExceedsPayment = (payment: Payment): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'refund-exceeds-payment',
    title: 'Refund exceeds payment',
    detail: `${payment.amount - payment.refunded} of ${payment.amount} are left to refund.`,
  });
