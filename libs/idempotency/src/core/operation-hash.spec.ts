import { describe, expect, it } from '@jest/globals';

import { operationHash } from './operation-hash.js';

const OPERATION = { tenant: 'acme', endpoint: 'POST /payments', key: 'order-1' };

describe('the hash of an operation', () => {
  it('is this, for good', () => {
    // printf '["acme","POST /payments","order-1"]' | sha256sum
    expect(operationHash(OPERATION)).toBe('bac7ffdb35bf60ae');
  });

  it.each([
    { ...OPERATION, tenant: 'acm', endpoint: 'ePOST /payments' },
    { ...OPERATION, endpoint: 'POST /payments/' },
    { ...OPERATION, key: 'order-2' },
  ])('is another one for another operation: %j', (other) => {
    expect(operationHash(other)).not.toBe(operationHash(OPERATION));
  });
});
