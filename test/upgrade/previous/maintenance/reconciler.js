import { IdempotencyError } from '../core/errors.js';
const BATCH = 20;
export class Reconciler {
    constructor(backlog, executor, endpoints, afterMs, longestMs, report) {
        this.backlog = backlog;
        this.executor = executor;
        this.endpoints = endpoints;
        this.afterMs = afterMs;
        this.longestMs = longestMs;
        this.report = report;
        this.running = null;
    }
    reconcileDue() {
        this.running ??= this.reconcile().finally(() => (this.running = null));
        return this.running;
    }
    async reconcile() {
        const seen = new Set();
        let settled = 0;
        try {
            if (this.endpoints.size === 0)
                return 0;
            for (;;) {
                const found = await this.backlog.abandoned([...this.endpoints.keys()], this.afterMs, seen.size + BATCH);
                const fresh = found.filter(({ operation }) => !seen.has(idOf(operation)));
                if (fresh.length === 0)
                    break;
                for (const one of fresh) {
                    seen.add(idOf(one.operation));
                    if (await this.settle(one))
                        settled++;
                }
            }
        }
        catch (error) {
            if (!isShuttingDown(error))
                this.report('Operations that nobody came back for could not be looked for.', error);
        }
        return settled;
    }
    async settle({ operation, fingerprint }) {
        const endpoint = this.endpoints.get(operation.endpoint);
        try {
            const { leaseMs, retentionMs } = endpoint;
            const attempt = { operation, fingerprint, strategy: { kind: 'lease' }, leaseMs, retentionMs };
            const arrival = await this.executor.arrive(attempt);
            if (arrival.kind !== 'claimed')
                return false;
            const { execution } = arrival;
            const verdict = await this.inTime(this.verdictOn(execution, endpoint));
            if (verdict === null) {
                void execution.settle({ kind: 'release' });
                throw new Error(`It took longer than ${this.longestMs} ms; the operation stays as it is.`);
            }
            const fate = await execution.settle(verdict);
            if (fate.kind === 'failed' || fate.kind === 'unknown')
                throw fate.cause;
            return fate.kind === 'recorded';
        }
        catch (error) {
            if (isShuttingDown(error))
                throw error;
            this.report(`An operation of ${operation.endpoint} could not be reconciled.`, error);
            return false;
        }
    }
    async inTime(work) {
        let timer;
        const over = new Promise((resolve) => {
            timer = setTimeout(resolve, this.longestMs, null).unref();
        });
        try {
            return await Promise.race([work, over]);
        }
        finally {
            clearTimeout(timer);
        }
    }
    async verdictOn(execution, { reconcile }) {
        try {
            const verdict = await reconcile(execution);
            return execution.steps.hasUnknown ? { kind: 'release' } : verdict;
        }
        catch (error) {
            const { endpoint } = execution.attempt.operation;
            this.report(`The reconciler of ${endpoint} failed; the operation stays as it is.`, error);
            await execution.rollback();
            return { kind: 'release' };
        }
    }
}
function idOf({ tenant, endpoint, key }) {
    return JSON.stringify([tenant, endpoint, key]);
}
function isShuttingDown(error) {
    return error instanceof IdempotencyError && error.code === 'idempotency-shutting-down';
}
