import { describe, expect, it } from '@jest/globals';

import { lockOf } from './operation-lock.js';

const TABLE = '"idempotency_records"';
const OPERATION = { tenant: 'acme', endpoint: 'POST /payments', key: 'key-1' };

describe('the lock of an operation', () => {
  // Processes of two versions run side by side: it is as good as a stored format.
  it.each([
    [OPERATION, '809944200284408936'],
    [{ tenant: '', endpoint: 'POST /payments', key: 'ключ' }, '3850263770749617253'],
  ])('is the same number in every version', (operation, number) => {
    expect(lockOf(TABLE, operation)).toBe(number);
  });

  it.each([
    ['of another tenant', TABLE, { ...OPERATION, tenant: 'acme2' }],
    ['of another endpoint', TABLE, { ...OPERATION, endpoint: 'POST /refunds' }],
    ['of another key', TABLE, { ...OPERATION, key: 'key-2' }],
    ['of another table', '"other"."idempotency_records"', OPERATION],
    ['whose parts are divided otherwise', TABLE, { tenant: 'acmeP', endpoint: 'OST /payments', key: 'key-1' }],
    ['whose parts change places', TABLE, { tenant: 'key-1', endpoint: 'POST /payments', key: 'acme' }],
  ])('is not that of an operation %s', (_, table, operation) => {
    expect(lockOf(table, operation)).not.toBe(lockOf(TABLE, OPERATION));
  });
});
