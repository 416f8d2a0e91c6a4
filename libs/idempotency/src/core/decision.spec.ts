import { describe, expect, it } from '@jest/globals';

import { decide, type OperationRecord } from './decision.js';
import type { Asked } from './fingerprint.js';
import type { Recording } from './recording.js';

const MINE = Uint8Array.of(1, 2, 3);
const OTHER = Uint8Array.of(1, 2, 4);
const OLD = Uint8Array.of(0, 7);
const OLD_OTHER = Uint8Array.of(0, 8);
const NEWER = Uint8Array.of(2, 2, 3);
const ASKED: Asked = { fingerprint: MINE, fingerprintIn: (version) => (version === 0 ? OLD : null) };
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
    ['completed, in an old version', completed(false, OLD), 'replay'],
    ['completed, in an old version, other payload', completed(false, OLD_OTHER), 'mismatch'],
    ['in progress, in an old version', inProgress(1, {}, OLD), 'in_progress'],
    ['in progress, in an old version, other payload', inProgress(1, {}, OLD_OTHER), 'mismatch'],
    ['in progress, in an old version, lease out', inProgress(0, {}, OLD), 'claimable'],
    ['completed, in a version of the future', completed(false, NEWER), 'incomparable'],
    ['in progress, in a version of the future, lease out', inProgress(0, {}, NEWER), 'incomparable'],
    ['completed, in a version of the future, past retention', completed(true, NEWER), 'claimable'],
  ])('%s: %3$s', (_, record, decision) => {
    expect(decide(record, ASKED).kind).toBe(decision);
  });

  it('hands the recording on for a replay, and what is left of the lease for a refusal', () => {
    expect(decide(completed(false), ASKED)).toEqual({ kind: 'replay', recording });
    expect(decide(inProgress(41_250), ASKED)).toEqual({ kind: 'in_progress', leaseLeftMs: 41_250 });
  });

  it('claims a record in the version that it holds, and a new one in the current version', () => {
    expect(decide(inProgress(0, {}, OLD), ASKED)).toEqual({ kind: 'claimable', fingerprint: OLD });
    expect(decide(completed(true, OLD), ASKED)).toEqual({ kind: 'claimable', fingerprint: MINE });
    expect(decide(null, ASKED)).toEqual({ kind: 'claimable', fingerprint: MINE });
  });
});
