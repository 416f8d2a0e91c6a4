import { describe, expect, it } from '@jest/globals';

import { spokenDuration } from './spoken-duration.js';

describe('spokenDuration', () => {
  it.each([
    [1_000, '1 second'],
    [1_500, '1.5 seconds'],
    [90_000, '90 seconds'],
    [60_000, '1 minute'],
    [5_400_000, '90 minutes'],
    [3_600_000, '1 hour'],
    [129_600_000, '36 hours'],
    [86_400_000, '1 day'],
    [604_800_000, '7 days'],
  ])('%i ms is %s', (ms, words) => {
    expect(spokenDuration(ms)).toBe(words);
  });
});
