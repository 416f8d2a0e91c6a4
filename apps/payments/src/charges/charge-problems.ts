import type { StepRefusedError } from 'nestjs-idempotency';
import { type Problem, ProblemException } from '../problems/problem.exception.js';
import type { ProviderError, ProviderRefusal } from '../provider/provider-error.js';
import type { Charge } from './charge.entity.js';

export const chargeNotFound = (id: string): ProblemException =>
  new ProblemException({
    status: 404,
    code: 'charge-not-found',
    title: 'Charge not found',
    detail: `There is no charge ${id}.`,
  });

export const currencyNotOffered = (currency: string): ProblemException =>
  new ProblemException({
    status: 422,
    code: 'currency-not-offered',
    title: 'Currency not offered',
    detail: `There are no accounts in ${currency}.`,
  });

export const notCaptured = ({ id }: Charge): ProblemException =>
  new ProblemException({
    ...REFUSALS.not_captured,
    detail: `Nothing of ${id} was taken, so nothing can go back.`,
  });

/** What the provider refuses, by its own code, in our words. */
const REFUSALS = {
  card_declined: { status: 402, code: 'card-declined', title: 'Card declined' },
  insufficient_funds: { status: 402, code: 'card-insufficient-funds', title: 'Card has insufficient funds' },
  already_captured: { status: 422, code: 'already-captured', title: 'Already captured' },
  not_captured: { status: 422, code: 'not-captured', title: 'Not captured' },
  refund_exceeds_captured: { status: 422, code: 'refund-exceeds-charge', title: 'Refund exceeds charge' },
} as const satisfies Record<string, Omit<Problem, 'detail'>>;

/** The refusal of a step, for whoever asked for it; undefined where the provider has none that we know. */
export function refusalOf({ details, message }: StepRefusedError): ProblemException | undefined {
  const { code = '', detail = message } = (details ?? {}) as Partial<ProviderRefusal>;
  return isKnown(code) ? new ProblemException({ ...REFUSALS[code], detail }) : undefined;
}

/** The call certainly had no effect, and may have one at another time. */
export const providerUnavailable = ({ details }: ProviderError): ProblemException =>
  new ProblemException({
    status: 503,
    code: 'provider-unavailable',
    title: 'Card provider unavailable',
    detail: 'The card provider did nothing. Try again with the same key.',
    retryAfter: details?.retryAfter ?? 1,
  });

const isKnown = (code: string): code is keyof typeof REFUSALS => Object.hasOwn(REFUSALS, code);
