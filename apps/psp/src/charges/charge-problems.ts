import { ProblemException } from '../problems/problem.exception.js';
import type { Charge } from './charge.entity.js';

export const cardDeclined = (): ProblemException =>
  new ProblemException({
    status: 402,
    code: 'card_declined',
    title: 'Card declined',
    detail: 'The bank declined the card.',
  });

export const insufficientFunds = (): ProblemException =>
  new ProblemException({
    status: 402,
    code: 'insufficient_funds',
    title: 'Insufficient funds',
    detail: 'The card does not cover the amount.',
  });

export const chargeNotFound = (id: string): ProblemException =>
  new ProblemException({
    status: 404,
    code: 'charge_not_found',
    title: 'Charge not found',
    detail: `There is no charge ${id}.`,
  });

export const alreadyCaptured = ({ id }: Charge): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'already_captured',
    title: 'Already captured',
    detail: `${id} was captured before.`,
  });

export const captureExceedsAuthorized = ({ amount }: Charge): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'capture_exceeds_authorized',
    title: 'Capture exceeds authorized amount',
    detail: `${amount} are authorized.`,
  });

export const searchNotOffered = (): ProblemException =>
  new ProblemException({
    status: 501,
    code: 'search_not_offered',
    title: 'Search not offered',
    detail: 'This provider finds nothing by its reference.',
  });
