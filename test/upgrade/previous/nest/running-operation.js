import { setTimeout } from 'node:timers/promises';
import { workBroken } from '../core/errors.js';
import { pauseMs } from '../core/patience.js';
import { providerKey } from '../core/provider-key.js';
import { failureOf } from '../core/step-failure.js';
import { isConflict } from '../storage/postgres-errors.js';
import { noOpenManager } from './attempt-context.js';
import { milliseconds } from './duration.js';
const DEFAULT_DEADLINE = '20s';
const MAX_NAME_LENGTH = 255;
export class RunningOperation {
    constructor(execution, terms) {
        this.execution = execution;
        this.terms = terms;
        this.openManager = null;
        this.phase = 'before_commit';
        this.made = new Set();
        this.hasEnded = false;
        this.callbacks = [];
    }
    get tenant() {
        return this.execution.attempt.operation.tenant;
    }
    get endpoint() {
        return this.execution.attempt.operation.endpoint;
    }
    get key() {
        return this.execution.attempt.operation.key;
    }
    get attempts() {
        return this.execution.attempts;
    }
    get signal() {
        return this.execution.signal;
    }
    get manager() {
        return this.openManager ?? noOpenManager();
    }
    get isOver() {
        return this.hasEnded || this.execution.isSettling;
    }
    async start() {
        if (this.terms.isManual)
            this.execution.rest();
        else
            await this.begin();
    }
    async seal() {
        if (this.execution.steps.isUnderWay) {
            await this.execution.steps.idle();
            throw workBroken('The handler returned while a step was under way. Await it.');
        }
        if (this.phase === 'committing') {
            throw workBroken('The handler returned while `operation.commit()` was under way. Await it.');
        }
        if (this.terms.isManual && this.phase === 'before_commit')
            await this.begin();
        await this.execution.seal();
    }
    end() {
        this.hasEnded = true;
    }
    async step(name, call, options = {}) {
        this.assertRunning();
        if (!this.terms.isManual) {
            throw workBroken('A step was made while the transaction of the work was open, which would then be held for as long as the ' +
                "outside call takes. Declare the handler with `@Idempotent({ transaction: 'manual' })`.");
        }
        if (this.phase !== 'before_commit' || this.execution.isWorking || this.execution.isSettling) {
            throw workBroken('A step was made inside or after `operation.commit()`. Make every step before it.');
        }
        if (this.made.has(name))
            throw workBroken(`The step '${name}' was made already. Give each step a name of its own.`);
        const result = await this.execution.steps.run(name, call, this.termsOf(name, options));
        this.made.add(name);
        return result;
    }
    async commit(work) {
        this.assertRunning();
        if (!this.terms.isManual) {
            throw workBroken("`operation.commit()` is for handlers with `transaction: 'manual'`; this one's work is one already.");
        }
        if (this.phase !== 'before_commit' || this.execution.isWorking) {
            throw workBroken('`operation.commit()` was called twice.');
        }
        if (this.execution.steps.isUnderWay)
            throw workBroken('`operation.commit()` was called while a step was under way.');
        this.phase = 'committing';
        for (let tries = 0;; tries++) {
            try {
                await this.begin();
                const value = await work(this.openManager);
                await this.execution.seal();
                this.phase = 'committed';
                return value;
            }
            catch (error) {
                this.openManager = null;
                await this.execution.rollback();
                if (tries === this.terms.conflictRetries || !isConflict(error)) {
                    this.phase = 'before_commit';
                    throw error;
                }
                await setTimeout(pauseMs(tries));
            }
        }
    }
    afterCommit(callback) {
        this.assertRunning();
        if (this.execution.isWorking)
            this.execution.afterCommit(callback);
        else
            this.callbacks.push(callback);
    }
    assertRunning() {
        if (this.hasEnded)
            throw workBroken('The run of the handler that this code belongs to has failed and is over.');
    }
    async begin() {
        this.openManager = await this.execution.begin();
        for (const callback of this.callbacks)
            this.execution.afterCommit(callback);
    }
    termsOf(name, options) {
        const { attempt } = this.execution;
        const { deadlineMs, deadline = DEFAULT_DEADLINE, tries = 1, failure = failureOf, whenUnknown = 'repeat' } = options;
        if (name === '')
            throw workBroken('A step needs a name.');
        if (name.length > MAX_NAME_LENGTH || name.includes('\0')) {
            throw workBroken(`The name of a step has at most ${MAX_NAME_LENGTH} characters, and no NUL among them. Say in it what is done.`);
        }
        if (!Number.isInteger(tries) || tries < 1)
            throw workBroken(`The step '${name}' needs a whole number of tries, at least 1.`);
        return {
            providerKey: providerKey(this.terms.providerKeySecret, attempt.operation, attempt.fingerprint, name),
            deadlineMs: milliseconds('deadline', deadlineMs ?? deadline),
            maxTries: tries,
            pauseMs,
            judge: failure,
            whenUnknown,
        };
    }
}
