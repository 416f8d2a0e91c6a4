import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { pauseMs, Pauses } from './patience.js';

describe('pauseMs', () => {
  it('grows to a second, and leaves half of it to chance', () => {
    fc.assert(
      fc.property(fc.nat(1_000), (looks) => {
        const longest = Math.min(50 * 2 ** looks, 1_000);
        const ms = pauseMs(looks);
        expect(ms).toBeGreaterThanOrEqual(longest / 2);
        expect(ms).toBeLessThanOrEqual(longest);
      }),
    );
  });

  it('differs from one waiter to the next', () => {
    expect(new Set(Array.from({ length: 20 }, () => pauseMs(4))).size).toBeGreaterThan(1);
  });
});

describe('Pauses', () => {
  const HOURS_MS = 10_000_000;

  it('end by themselves', async () => {
    await expect(new Pauses().for(1)).resolves.toBeUndefined();
  });

  it('end when nobody waits for the answer any more', async () => {
    const answered = new AbortController();
    const pause = new Pauses().for(HOURS_MS, answered.signal);
    answered.abort();
    await expect(pause).resolves.toBeUndefined();
  });

  it('do not begin for somebody who has left already', async () => {
    await expect(new Pauses().for(HOURS_MS, AbortSignal.abort())).resolves.toBeUndefined();
  });

  it('end together', async () => {
    const pauses = new Pauses();
    const all = Promise.all([pauses.for(HOURS_MS), pauses.for(HOURS_MS), pauses.for(HOURS_MS)]);
    pauses.endAll();
    await expect(all).resolves.toHaveLength(3);
  });
});
