import { describe, expect, it } from '@jest/globals';

import { judge, type WorkOutcome } from './judge.js';

const returned = (status: number): WorkOutcome => ({ kind: 'returned', status });
const threw: WorkOutcome = { kind: 'threw', hasEntered: true, isConflict: false };

describe('judge', () => {
  it.each<[situation: string, outcome: WorkOutcome, status: number, verdict: string]>([
    ['returned, 201', returned(201), 201, 'commit'],
    ['returned, chose a redirect', returned(201), 302, 'commit'],
    ['returned, chose 404', returned(404), 404, 'commit'],
    ['returned, chose 503', returned(503), 503, 'release'],
    ['returned, became 400 outside', returned(201), 400, 'release'],
    ['returned, became 500 outside', returned(201), 500, 'release'],
    ['threw, answered below 400', threw, 200, 'release'],
    ['threw 400', threw, 400, 'refuse'],
    ['threw 402', threw, 402, 'refuse'],
    ['threw 404', threw, 404, 'refuse'],
    ['threw 409', threw, 409, 'refuse'],
    ['threw 410', threw, 410, 'refuse'],
    ['threw 422', threw, 422, 'refuse'],
    ['threw 401', threw, 401, 'release'],
    ['threw 403', threw, 403, 'release'],
    ['threw 408', threw, 408, 'release'],
    ['threw 423', threw, 423, 'release'],
    ['threw 425', threw, 425, 'release'],
    ['threw 429', threw, 429, 'release'],
    ['threw 500', threw, 500, 'release'],
    ['threw 503', threw, 503, 'release'],
    ['threw 409 for a serialization failure', { ...threw, isConflict: true }, 409, 'release'],
    ['threw 422 before entry', { ...threw, hasEntered: false }, 422, 'release'],
  ])('%s: %4$s', (_, outcome, status, verdict) => {
    expect(judge(outcome, status)).toBe(verdict);
  });
});
