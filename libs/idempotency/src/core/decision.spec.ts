import { describe, expect, it } from '@jest/globals';

import { decide, type OperationRecord } from './decision.js';
import type { Recording } from './recording.js';

const MINE = Uint8Array.of(1, 2, 3);
const OTHER = Uint8Array.of(1, 2, 4);
const recording: Recording = { status: 201, headers: [], body: null, omitted: null, resource: null };

const completed = (isExpired: boolean, fingerprint = MINE): OperationRecord => ({
  state: 'completed',
  token: 'token',
  fingerprint,
  isExpired,
  recording,
});

const inProgress = (
  leaseLeftMs: number | null,
  more: { isExpired?: boolean; hasSteps?: boolean } = {},
  fingerprint = MINE,
) =>
  ({
    state: 'in_progress',
    token: 'token',
    fingerprint,
    isExpired: false,
    hasSteps: false,
    leaseLeftMs,
    ...more,
  }) as const;

describe('decide', () => {
  it.each<[situation: string, record: OperationRecord | null, decision: string]>([
    ['no record', null, 'claimable'],
    ['completed', completed(false), 'replay'],
    ['completed, other payload', completed(false, OTHER), 'mismatch'],
    ['completed, past retention', completed(true), 'claimable'],
    ['completed, past retention, other payload', completed(true, OTHER), 'claimable'],
    ['in progress, lease live', inProgress(1), 'in_progress'],
    ['in progress, lease live, other payload', inProgress(1, {}, OTHER), 'mismatch'],
    ['in progress, lease live, past retention', inProgress(1, { isExpired: true }), 'in_progress'],
    ['in progress, lease live, past retention, other payload', inProgress(1, { isExpired: true }, OTHER), 'mismatch'],
    ['in progress, lease just out', inProgress(0), 'claimable'],
    ['in progress, lease long out', inProgress(-60_000), 'claimable'],
    ['in progress, released', inProgress(null), 'claimable'],
    ['in progress, lease out, other payload', inProgress(0, {}, OTHER), 'mismatch'],
    ['in progress, lease out, past retention, other payload', inProgress(0, { isExpired: true }, OTHER), 'claimable'],
    [
      'in progress with steps, lease out, past retention, other payload',
      inProgress(0, { isExpired: true, hasSteps: true }, OTHER),
      'mismatch',
    ],
    ['in progress with steps, lease out', inProgress(0, { hasSteps: true }), 'claimable'],
  ])('%s: %3$s', (_, record, decision) => {
    expect(decide(record, MINE).kind).toBe(decision);
  });

  it('hands the recording on for a replay, and what is left of the lease for a refusal', () => {
    expect(decide(completed(false), MINE)).toEqual({ kind: 'replay', recording });
    expect(decide(inProgress(41_250), MINE)).toEqual({ kind: 'in_progress', leaseLeftMs: 41_250 });
  });
});
