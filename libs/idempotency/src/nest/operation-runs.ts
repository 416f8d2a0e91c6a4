import { setTimeout } from 'node:timers/promises';

import type { EntityManager } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import type { Decision } from '../core/decision.js';
import {
  gaveWay,
  IdempotencyError,
  type IdempotencyErrorCode,
  outcomeUnknown,
  storeUnavailable,
  workBroken,
} from '../core/errors.js';
import type { Execution, Fate } from '../core/execution.js';
import type { Executor } from '../core/executor.js';
import { pauseMs } from '../core/patience.js';
import type { Observation } from '../core/observation.js';
import { endingOf } from '../core/outcome.js';
import type { Recording } from '../core/recording.js';
import { refusalOf } from '../core/refusal.js';
import { toldOf } from '../core/steps.js';
import { plainData, recordingOfValue, valueOf } from '../core/value-recording.js';
import type { Handled } from '../messaging/settlement.js';
import { isConflict } from '../storage/postgres-errors.js';
import { runInAttempt, runOutsideAttempts } from './attempt-context.js';
import { HandlerRun } from './handler-run.js';
import type { IdempotentOperation } from './idempotent-operation.js';
import { type OperationMeans, RunningOperation } from './running-operation.js';
import type { EndpointSettings } from './settings.js';

/** `wrapper` is that of the handler which the work runs; work that runs none has none. */
type RunSettings = EndpointSettings & { readonly wrapper?: symbol };

export type OperationWork<Result> = (operation: IdempotentOperation) => Promise<Result> | Result;

/** Runs operations that have no wire: what their work returns is what is recorded. */
export class OperationRuns {
  constructor(
    private readonly executor: Executor<EntityManager>,
    private readonly means: OperationMeans,
  ) {}

  /** Claims the operation and runs its work, or says what stands in the way. Never rejects. */
  async handle<Result>(
    attempt: Attempt,
    settings: EndpointSettings,
    work: OperationWork<Result>,
    observation: Observation,
    signal?: AbortSignal,
  ): Promise<Handled<Result>> {
    try {
      const { patienceMs } = settings;
      const arrival = await this.executor.arrive(attempt, { patienceMs, ...(signal && { signal }) }, observation);
      switch (arrival.kind) {
        case 'claimed':
          return await runOutsideAttempts(() => this.run(arrival.execution, settings, work));
        case 'replay':
          return await observation.replaying(() => replayed(arrival.recording, attempt, settings));
        default:
          return { kind: 'refused', error: refusalOf(arrival) };
      }
    } catch (error) {
      return { kind: 'refused', error: error instanceof IdempotencyError ? error : storeUnavailable(error) };
    }
  }

  /** Runs the work of a claim; again, as often as the endpoint allows, where it has to give way to other transactions. */
  private async run<Result>(
    execution: Execution<EntityManager>,
    settings: EndpointSettings,
    work: OperationWork<Result>,
  ): Promise<Handled<Result>> {
    const { attempt, attempts } = execution;
    if (attempt.countedTries !== undefined && attempts > attempt.countedTries) {
      const error = diedTooOften(attempts - 1);
      await execution.settle({ kind: 'release', ending: endingOf(error, 'failed') });
      return { kind: 'failed', error, tries: attempts - 1 };
    }
    // Where the work opens its transaction itself, that is what is tried again.
    const conflictRetries = settings.isManual ? 0 : settings.conflictRetries;
    for (let conflicts = 0; ; conflicts++) {
      try {
        const { value, recording } = await this.runOnce(execution, settings, work);
        const fate = await execution.settle({ kind: 'commit', recording });
        return await handledBy(fate, value, execution, settings);
      } catch (error) {
        await execution.rollback();
        if (isConflict(error) && conflicts < conflictRetries) {
          await setTimeout(pauseMs(conflicts));
          continue;
        }
        const outcome = failed(error, attempts);
        const fate = await execution.settle({ kind: 'release', ending: endingOf(toldOf(outcome.error), 'failed') });
        return fate.kind === 'lost' ? await foundTaken(fate.decision, attempt, settings) : outcome;
      }
    }
  }

  /** What the work returned, as it is kept, with everything it wrote ready to be committed. */
  private async runOnce<Result>(
    execution: Execution<EntityManager>,
    settings: RunSettings,
    work: OperationWork<Result>,
  ): Promise<{ value: Result; recording: Recording }> {
    const operation = new RunningOperation(execution, { ...settings, ...this.means });
    try {
      await operation.start();
      const run = new HandlerRun(this, execution, operation, settings.wrapper);
      // Whoever asks again is given plain data, so the first is as well.
      const working = () => execution.working(() => operation.perform(() => work(operation)));
      const value = plainData(await runInAttempt(run, working)) as Result;
      await operation.seal();
      if (execution.steps.hasUnknown) throw outcomeUnknown();
      return { value, recording: await recordingOfValue(value, settings.keeping, execution.attempt.operation) };
    } catch (error) {
      operation.end();
      throw error;
    }
  }
}

async function handledBy<Result>(
  fate: Fate,
  value: Result,
  { attempt, attempts }: Execution<EntityManager>,
  settings: EndpointSettings,
): Promise<Handled<Result>> {
  switch (fate.kind) {
    case 'recorded':
      return { kind: 'executed', value };
    case 'lost':
      return foundTaken(fate.decision, attempt, settings);
    case 'unknown':
      return { kind: 'refused', error: storeUnavailable(fate.cause) };
    case 'failed':
      return failed(fate.cause, attempts);
    case 'released':
      return failed(workBroken('The operation was settled before its work was done.'), attempts);
  }
}

/** Somebody else has the operation: what their record says is the answer here too. */
async function foundTaken<Result>(
  decision: Decision,
  attempt: Attempt,
  settings: EndpointSettings,
): Promise<Handled<Result>> {
  if (decision.kind === 'replay') return replayed(decision.recording, attempt, settings);
  return { kind: 'refused', error: refusalOf(decision) };
}

async function replayed<Result>(
  recording: Recording,
  { operation }: Attempt,
  { keeping }: EndpointSettings,
): Promise<Handled<Result>> {
  return { kind: 'replayed', value: (await valueOf(recording, keeping, operation)) as Result };
}

/** What says nothing of the work: it could not be done just now. */
const NOT_NOW = new Set<IdempotencyErrorCode>([
  'idempotency-store-unavailable',
  'idempotency-shutting-down',
  'idempotency-outcome-unknown',
]);

function failed(error: unknown, tries: number): Extract<Handled<never>, { kind: 'failed' | 'refused' }> {
  if (isConflict(error)) return { kind: 'failed', error: gaveWay(error), tries };
  if (error instanceof IdempotencyError && NOT_NOW.has(error.code)) return { kind: 'refused', error };
  return { kind: 'failed', error, tries };
}

function diedTooOften(tries: number): IdempotencyError {
  return workBroken(`The work was begun ${tries} times, and none of its workers lived to say what came of it.`);
}
