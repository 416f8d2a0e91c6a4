import { expect } from '@jest/globals';

import type { Answer } from '../module/listening.js';

/** The answer says that nothing was processed, that it is the store's fault, and when to try again. */
export function expectStoreUnavailable({ status, headers, body }: Answer): void {
  expect(status).toBe(503);
  expect(JSON.parse(body)).toMatchObject({ code: 'idempotency-store-unavailable', status: 503, retryable: true });
  expect(headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
  expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(1);
  expect(headers.get('Cache-Control')).toBe('no-store');
}
