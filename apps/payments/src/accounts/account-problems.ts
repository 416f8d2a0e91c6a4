import { ProblemException } from '../problems/problem.exception.js';
import type { Account } from './account.entity.js';

export const unknownAccount = (id: string): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'unknown-account',
    title: 'Unknown account',
    detail: `There is no account ${id}.`,
  });

export const currencyMismatch = (account: Account, currency: string): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'currency-mismatch',
    title: 'Currency mismatch',
    detail: `${account.id} holds ${account.currency}, not ${currency}.`,
  });

export const insufficientFunds = (account: Account): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'insufficient-funds',
    title: 'Insufficient funds',
    detail: `${account.id} does not hold that much.`,
  });
