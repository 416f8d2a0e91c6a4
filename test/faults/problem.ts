import { expect } from '@jest/globals';

import type { Answer } from '../module/listening.js';

/** The answer says that nothing was processed, that it is the store's fault, and when to try again. */
export function expectStoreUnavailable(answer: Answer): void {
  expectUnavailable(answer, 'idempotency-store-unavailable');
}

/** The work had to give way to another transaction. */
export function expectWorkConflict(answer: Answer): void {
  expectUnavailable(answer, 'idempotency-work-conflict');
}

function expectUnavailable({ status, headers, body }: Answer, code: string): void {
  expect(status).toBe(503);
  expect(JSON.parse(body)).toMatchObject({ code, status: 503, retryable: true });
  expect(headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
  expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  expect(headers.get('Cache-Control')).toBe('no-store');
}
