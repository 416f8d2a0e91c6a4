import { describe, expect, it } from '@jest/globals';

import { EndpointLabels, OTHER_ENDPOINTS } from './endpoint-labels.js';

describe('the names of endpoints', () => {
  it('stay a bounded number, whatever plain code calls its own', () => {
    const labels = new EndpointLabels();
    const seen = new Set<string>();
    for (let at = 0; at < 10_000; at++) seen.add(labels.of(`invoice ${at}`));
    expect(seen.size).toBe(501);
    expect(seen).toContain(OTHER_ENDPOINTS);
  });

  it('are kept that came first', () => {
    const labels = new EndpointLabels();
    labels.of('POST /payments');
    for (let at = 0; at < 10_000; at++) labels.of(`invoice ${at}`);
    expect(labels.of('POST /payments')).toBe('POST /payments');
  });
});
