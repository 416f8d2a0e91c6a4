import { describe, expect, it } from '@jest/globals';

import { IdempotencyError, type IdempotencyErrorCode, UnknownTenantError } from '../core/errors.js';
import { type Settlement, settlementOf } from './settlement.js';

const MAX_TRIES = 3;

/** What is stated of each refusal; the error itself is said again in all but an acknowledgement. */
type Stated = { readonly retry: number } | { readonly park: string } | 'acknowledge';

/** The record has every code, or does not compile. */
const REFUSALS: Record<IdempotencyErrorCode, Stated> = {
  'idempotency-key-missing': { park: 'unidentified' },
  'idempotency-key-invalid': { park: 'unidentified' },
  'idempotency-key-reused': { park: 'mismatch' },
  'idempotency-payload-unsupported': { park: 'unreadable' },
  'idempotency-payload-invalid': { park: 'unreadable' },
  'idempotency-replay-forbidden': { retry: 1_000 },
  'idempotency-request-in-progress': { retry: 100 },
  'idempotency-response-unavailable': 'acknowledge',
  'idempotency-key-expired': 'acknowledge',
  'idempotency-outcome-unknown': { retry: 30_000 },
  'idempotency-step-refused': { retry: 1_000 },
  'idempotency-scope-unresolved': { retry: 5_000 },
  'idempotency-fingerprint-failed': { park: 'unreadable' },
  'idempotency-store-unavailable': { retry: 1_000 },
  'idempotency-shutting-down': { retry: 1_000 },
  'idempotency-work-conflict': { retry: 1_000 },
  'idempotency-work-broken': { retry: 1_000 },
};

const refusal = (code: IdempotencyErrorCode, details = {}) => new IdempotencyError(code, 'refused', details);
const settled = (error: IdempotencyError): Settlement => settlementOf({ kind: 'refused', error }, MAX_TRIES);

describe('a message whose operation is refused', () => {
  it.each(Object.entries(REFUSALS) as [IdempotencyErrorCode, Stated][])('for %s is settled so: %j', (code, stated) => {
    const error = refusal(code);
    if (stated === 'acknowledge') {
      expect(settled(error)).toMatchObject({ kind: 'acknowledge', outcome: { kind: 'replayed_without_value' } });
    } else if ('park' in stated) {
      expect(settled(error)).toEqual({ kind: 'park', reason: stated.park, error });
    } else {
      expect(settled(error)).toEqual({ kind: 'retry', afterMs: stated.retry, error });
    }
  });

  it('is parked where nobody can be found whose it is, and retried where finding out failed', () => {
    const [unknown, failed] = [new UnknownTenantError('Nobody.'), new Error('The directory is away.')].map((cause) =>
      refusal('idempotency-scope-unresolved', { cause }),
    ) as [IdempotencyError, IdempotencyError];
    expect(settled(unknown)).toEqual({ kind: 'park', reason: 'unscoped', error: unknown });
    expect(settled(failed)).toEqual({ kind: 'retry', afterMs: 5_000, error: failed });
  });

  it.each([
    [undefined, 100],
    [0, 100],
    [99.5, 100],
    [2_500, 2_500],
    [60_000, 5_000],
  ])('is looked at again, where another worker is at it for %s ms yet, in %s ms', (retryAfterMs, afterMs) => {
    const error = refusal('idempotency-request-in-progress', { retryAfterMs });
    expect(settled(error)).toEqual({ kind: 'retry', afterMs, error });
  });

  it('is retried when the refusal says', () => {
    const error = refusal('idempotency-store-unavailable', { retryAfterMs: 7_000 });
    expect(settled(error)).toEqual({ kind: 'retry', afterMs: 7_000, error });
  });
});

describe('a message whose work is done', () => {
  it.each(['executed', 'replayed'] as const)('is acknowledged with the value where it was %s', (kind) => {
    const outcome = { kind, value: { paid: true } };
    expect(settlementOf(outcome, MAX_TRIES)).toEqual({ kind: 'acknowledge', outcome });
  });

  it('is acknowledged where the value is undefined', () => {
    const outcome = { kind: 'executed', value: undefined } as const;
    expect(settlementOf(outcome, MAX_TRIES)).toEqual({ kind: 'acknowledge', outcome });
  });
});

describe('a message whose work failed', () => {
  const error = new Error('The work failed.');
  const failedAt = (tries: number, maxTries = MAX_TRIES) => settlementOf({ kind: 'failed', error, tries }, maxTries);

  it('is retried until it was begun as often as it may be, and parked then', () => {
    const settlements = [1, 2, 3, 4].map((tries) => failedAt(tries));
    expect(settlements.map(({ kind }) => kind)).toEqual(['retry', 'retry', 'park', 'park']);
    expect(settlements[2]).toEqual({ kind: 'park', reason: 'failed_too_often', error });
  });

  it('is parked at once where it may be begun once only', () => {
    expect(failedAt(1, 1).kind).toBe('park');
  });

  it.each([
    [1, 1_000],
    [2, 2_000],
    [3, 4_000],
    [6, 32_000],
    [7, 60_000],
    [5_000, 60_000],
  ])('waits, after try %s, for half of %s ms to the whole of it', (tries, longestMs) => {
    const pauses = Array.from({ length: 200 }, () => failedAt(tries, Infinity) as { readonly afterMs: number });
    const times = pauses.map(({ afterMs }) => afterMs);
    expect(Math.min(...times)).toBeGreaterThanOrEqual(longestMs / 2);
    expect(Math.max(...times)).toBeLessThanOrEqual(longestMs);
    expect(new Set(times).size).toBeGreaterThan(1);
  });
});
