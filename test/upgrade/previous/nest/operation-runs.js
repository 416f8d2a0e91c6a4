import { setTimeout } from 'node:timers/promises';
import { gaveWay, IdempotencyError, outcomeUnknown, storeUnavailable, workBroken, } from '../core/errors.js';
import { pauseMs } from '../core/patience.js';
import { refusalOf } from '../core/refusal.js';
import { plainData, recordingOfValue, valueOf } from '../core/value-recording.js';
import { isConflict } from '../storage/postgres-errors.js';
import { runInAttempt, runOutsideAttempts } from './attempt-context.js';
import { HandlerRun } from './handler-run.js';
import { RunningOperation } from './running-operation.js';
export class OperationRuns {
    constructor(executor, providerKeySecret) {
        this.executor = executor;
        this.providerKeySecret = providerKeySecret;
    }
    async handle(attempt, settings, work, signal) {
        try {
            const { patienceMs } = settings;
            const arrival = await this.executor.arrive(attempt, { patienceMs, ...(signal && { signal }) });
            switch (arrival.kind) {
                case 'claimed':
                    return await runOutsideAttempts(() => this.run(arrival.execution, settings, work));
                case 'replay':
                    return await replayed(arrival.recording, attempt, settings);
                default:
                    return { kind: 'refused', error: refusalOf(arrival) };
            }
        }
        catch (error) {
            return { kind: 'refused', error: error instanceof IdempotencyError ? error : storeUnavailable(error) };
        }
    }
    async run(execution, settings, work) {
        const { attempt, attempts } = execution;
        if (attempt.countedTries !== undefined && attempts > attempt.countedTries) {
            await execution.settle({ kind: 'release' });
            return { kind: 'failed', error: diedTooOften(attempts - 1), tries: attempts - 1 };
        }
        const conflictRetries = settings.isManual ? 0 : settings.conflictRetries;
        for (let conflicts = 0;; conflicts++) {
            try {
                const { value, recording } = await this.runOnce(execution, settings, work);
                const fate = await execution.settle({ kind: 'commit', recording });
                return await handledBy(fate, value, execution, settings);
            }
            catch (error) {
                await execution.rollback();
                if (isConflict(error) && conflicts < conflictRetries) {
                    await setTimeout(pauseMs(conflicts));
                    continue;
                }
                const fate = await execution.settle({ kind: 'release' });
                return fate.kind === 'lost' ? await foundTaken(fate.decision, attempt, settings) : failed(error, attempts);
            }
        }
    }
    async runOnce(execution, settings, work) {
        const { providerKeySecret } = this;
        const operation = new RunningOperation(execution, { ...settings, providerKeySecret });
        try {
            await operation.start();
            const run = new HandlerRun(this, execution, operation, settings.wrapper);
            const value = plainData(await runInAttempt(run, async () => work(operation)));
            await operation.seal();
            if (execution.steps.hasUnknown)
                throw outcomeUnknown();
            return { value, recording: await recordingOfValue(value, settings.keeping, execution.attempt.operation) };
        }
        catch (error) {
            operation.end();
            throw error;
        }
    }
}
async function handledBy(fate, value, { attempt, attempts }, settings) {
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
async function foundTaken(decision, attempt, settings) {
    if (decision.kind === 'replay')
        return replayed(decision.recording, attempt, settings);
    return { kind: 'refused', error: refusalOf(decision) };
}
async function replayed(recording, { operation }, { keeping }) {
    return { kind: 'replayed', value: (await valueOf(recording, keeping, operation)) };
}
const NOT_NOW = new Set([
    'idempotency-store-unavailable',
    'idempotency-shutting-down',
    'idempotency-outcome-unknown',
]);
function failed(error, tries) {
    if (isConflict(error))
        return { kind: 'failed', error: gaveWay(error), tries };
    if (error instanceof IdempotencyError && NOT_NOW.has(error.code))
        return { kind: 'refused', error };
    return { kind: 'failed', error, tries };
}
function diedTooOften(tries) {
    return workBroken(`The work was begun ${tries} times, and none of its workers lived to say what came of it.`);
}
