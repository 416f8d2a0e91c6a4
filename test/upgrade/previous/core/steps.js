import { DEFAULT_RETRY_AFTER_MS, IdempotencyError, outcomeUnknown, storeUnavailable, workBroken } from './errors.js';
import { pauseMs, Pauses } from './patience.js';
import { decodeStepResult, encodeStepResult } from './step-codec.js';
import { outcomeOf } from './step-outcome.js';
import { leaseMsFor, MARGIN_MS } from './step-terms.js';
export class StepRefusedError extends Error {
    constructor(step, message, details, cause) {
        super(message, cause === undefined ? undefined : { cause });
        this.step = step;
        this.details = details;
        this.name = 'StepRefusedError';
    }
}
const MAX_FINISHES = 3;
export class Steps {
    constructor(session, claim, lost) {
        this.session = session;
        this.claim = claim;
        this.lost = lost;
        this.open = new Map();
        this.underWay = new Map();
        this.pauses = new Pauses();
        this.talking = Promise.resolve();
        this.hasSuccess = false;
        this.passing = new WeakSet();
    }
    get hasUnknown() {
        return this.open.size > 0;
    }
    get underWayMs() {
        return Math.max(0, Math.max(0, ...this.open.values()) - performance.now());
    }
    get hasSucceeded() {
        return this.hasSuccess;
    }
    isPassing(error) {
        return typeof error === 'object' && error !== null && this.passing.has(error);
    }
    get isUnderWay() {
        return this.underWay.size > 0;
    }
    async run(step, make, terms) {
        if (this.underWay.has(step))
            throw workBroken(`The step '${step}' is under way already. Give each step a name of its own.`);
        const running = this.tryOut(step, make, terms).finally(() => this.underWay.delete(step));
        this.underWay.set(step, running);
        return running;
    }
    async idle() {
        while (this.isUnderWay)
            await Promise.allSettled(this.underWay.values());
    }
    async resolve(step, providerKey, result) {
        const text = result && encodeStepResult(result);
        const { result: known, tries } = await this.announce(step, providerKey, MARGIN_MS);
        this.open.set(step, 0);
        if (known !== null)
            return true;
        const isNew = tries === 1;
        if (text === null || isNew)
            await this.withdraw(step);
        else
            await this.finish(step, text);
        return !isNew;
    }
    async tryOut(step, make, terms) {
        for (let tries = 1;; tries++) {
            const untilOverMs = (this.open.get(step) ?? 0) - performance.now();
            if (untilOverMs > 0)
                await this.pauses.for(untilOverMs, this.lost);
            const announced = await this.announce(step, terms.providerKey, leaseMsFor(terms));
            if (announced.result !== null)
                return this.known(step, announced.result);
            let overAt = 0;
            const call = (given) => {
                this.open.set(step, (overAt = performance.now() + terms.deadlineMs));
                return make(given);
            };
            const outcome = await outcomeOf(announced, call, terms, this.lost);
            const isAskedAbout = outcome.kind === 'unknown' && typeof terms.whenUnknown === 'function';
            this.open.set(step, isAskedAbout ? overAt : 0);
            if (outcome.kind === 'known') {
                const text = encodeStepResult(outcome.result);
                await this.finish(step, text);
                return this.known(step, text, outcome.cause);
            }
            if (outcome.kind === 'no_effect') {
                await this.withdraw(step);
                if (typeof outcome.error === 'object' && outcome.error !== null)
                    this.passing.add(outcome.error);
            }
            const isHeld = outcome.kind === 'unknown' && terms.whenUnknown === 'hold';
            if (isHeld || tries >= terms.maxTries || this.lost.aborted) {
                throw outcome.kind === 'unknown' ? outcomeUnknown(step, outcome.error) : outcome.error;
            }
            await this.pauses.for(terms.pauseMs(tries), this.lost);
        }
    }
    async announce(step, providerKey, leaseMs) {
        const endsAt = performance.now() + leaseMs;
        this.open.set(step, endsAt);
        try {
            const known = await this.talk(() => this.session.intend(this.claim, { step, providerKey, leaseMs }));
            if (known === null)
                throw lostClaim();
            if (known.result !== null)
                this.open.set(step, 0);
            return { ...known, endsAt };
        }
        catch (error) {
            this.open.set(step, 0);
            throw error;
        }
    }
    async finish(step, result) {
        for (let tries = 1;; tries++) {
            try {
                if (await this.talk(() => this.session.finish(this.claim, step, result)))
                    return;
                throw lostClaim();
            }
            catch (error) {
                const isSilent = error instanceof IdempotencyError && error.code === 'idempotency-store-unavailable';
                if (!isSilent || tries === MAX_FINISHES)
                    throw error;
                await this.pauses.for(pauseMs(tries), this.lost);
            }
        }
    }
    async withdraw(step) {
        if (!(await this.talk(() => this.session.withdraw(this.claim, step))))
            throw lostClaim();
        this.open.delete(step);
    }
    talk(say) {
        const answer = this.talking
            .then(say)
            .finally(() => this.session.rest())
            .catch((error) => {
            throw storeUnavailable(error);
        });
        this.talking = answer.catch(() => undefined);
        return answer;
    }
    known(step, text, cause) {
        const result = decodeStepResult(text);
        this.open.delete(step);
        if (result.kind === 'refused')
            throw new StepRefusedError(step, result.message, result.details, cause);
        this.hasSuccess = true;
        return result.value;
    }
}
function lostClaim() {
    return new IdempotencyError('idempotency-request-in-progress', 'Another attempt at this operation has taken over. Try again later with the same key.', { retryAfterMs: DEFAULT_RETRY_AFTER_MS });
}
