import { describe, expect, it } from '@jest/globals';

import { idempotencyCors } from './cross-origin.js';

describe('idempotencyCors', () => {
  it('exposes what a page has to read, and leaves the browser free to send any header', () => {
    expect(idempotencyCors()).toEqual({ exposedHeaders: ['Idempotent-Replayed', 'Retry-After', 'Link', 'Location'] });
  });

  it('adds the key header, and the content type that JSON needs, to a list of allowed headers', () => {
    expect(idempotencyCors({ allowedHeaders: ['Authorization'] }).allowedHeaders).toEqual([
      'Authorization',
      'Idempotency-Key',
      'Content-Type',
    ]);
  });

  it('allows the header that the module was told', () => {
    expect(idempotencyCors({ header: 'X-Request-Key', allowedHeaders: [] }).allowedHeaders).toEqual([
      'X-Request-Key',
      'Content-Type',
    ]);
  });

  it('keeps the lists it is given, and names nothing twice in whatever case', () => {
    const own = { allowedHeaders: ['content-type', 'idempotency-key'], exposedHeaders: ['ETag', 'retry-after'] };
    expect(idempotencyCors(own)).toEqual({
      allowedHeaders: ['content-type', 'idempotency-key'],
      exposedHeaders: ['ETag', 'retry-after', 'Idempotent-Replayed', 'Link', 'Location'],
    });
    expect(own).toEqual({
      allowedHeaders: ['content-type', 'idempotency-key'],
      exposedHeaders: ['ETag', 'retry-after'],
    });
  });
});
