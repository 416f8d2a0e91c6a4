import { describe, expect, it } from '@jest/globals';

import { workBroken } from '../core/errors.js';
import { type ErrorRule, judge, type WorkOutcome } from './judge.js';

const returned = (status: number): WorkOutcome => ({ kind: 'returned', status });
const REFUSED = new Error('refused');
const threw: WorkOutcome = { kind: 'threw', error: REFUSED, hasEntered: true, isConflict: false };

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

  it.each<[situation: string, rule: ErrorRule, outcome: WorkOutcome, status: number, verdict: string]>([
    ['a failure that the endpoint keeps', () => 'record', threw, 500, 'refuse'],
    ['a refusal that the endpoint lets go', () => 'release', threw, 402, 'release'],
    ['a refusal the rule says nothing of', () => undefined, threw, 402, 'refuse'],
    ['a failure the rule says nothing of', () => undefined, threw, 500, 'release'],
    ['an answer below 400 that the endpoint keeps', () => 'record', threw, 200, 'refuse'],
    ['a deadlock', () => 'record', { ...threw, isConflict: true }, 503, 'release'],
    ['an error before entry', () => 'record', { ...threw, hasEntered: false }, 400, 'release'],
    ['an error of the library', () => 'record', { ...threw, error: workBroken('broken') }, 500, 'release'],
    ['a success', () => 'release', returned(201), 201, 'commit'],
  ])('follows the rule of an endpoint: %s', (_, rule, outcome, status, verdict) => {
    expect(judge(outcome, status, rule)).toBe(verdict);
  });

  it('takes nothing else from the rule of an endpoint for an answer', () => {
    expect(() => judge(threw, 402, (() => Promise.resolve('record')) as never)).toThrow(
      '`errors` returned something else',
    );
  });

  it('shows the rule the error as it was thrown, and the status as sent', () => {
    const seen: unknown[] = [];
    judge(threw, 418, (...given) => void seen.push(...given));
    expect(seen).toEqual([REFUSED, 418]);
  });
});
