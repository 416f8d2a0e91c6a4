import { decide } from './decision.js';
import { IdempotencyError, shuttingDown, storeUnavailable } from './errors.js';
import { Execution } from './execution.js';
import { NO_PATIENCE, pauseMs, Pauses } from './patience.js';
const MAX_CLAIMS = 5;
export class Executor {
    constructor(store, leases, report) {
        this.store = store;
        this.leases = leases;
        this.report = report;
        this.underWay = 0;
        this.isClosing = false;
        this.pauses = new Pauses();
        this.waiting = [];
    }
    async arrive(attempt, patience = NO_PATIENCE) {
        if (this.isClosing)
            throw shuttingDown();
        this.underWay++;
        let arrival;
        try {
            return (arrival = await this.outlast(attempt, patience));
        }
        catch (error) {
            if (error instanceof IdempotencyError)
                throw error;
            this.report('The store did not answer; an attempt was refused.', error);
            throw storeUnavailable(error);
        }
        finally {
            if (arrival?.kind !== 'claimed')
                this.leave();
        }
    }
    async outlast(attempt, patience) {
        let arrival = await this.claim(attempt);
        const { patienceMs, signal } = patience;
        if (patienceMs === 0 || arrival.kind !== 'in_progress')
            return arrival;
        const endsAt = performance.now() + patienceMs;
        if (this.isClosing)
            throw shuttingDown();
        const over = new AbortController();
        const waiting = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
        const impatience = this.pauses.for(patienceMs, waiting).then(() => null);
        try {
            for (let looks = 0; arrival.kind === 'in_progress'; looks++) {
                const leftMs = endsAt - performance.now();
                if (leftMs <= 0)
                    break;
                await this.pauses.for(Math.min(pauseMs(looks), leftMs), signal);
                const found = await Promise.race([this.look(attempt), impatience]);
                if (this.isClosing)
                    throw shuttingDown();
                if (signal?.aborted)
                    break;
                if (found !== null)
                    arrival = found.kind === 'claimable' ? await this.claim(attempt, found.fingerprint) : found;
            }
            return arrival;
        }
        finally {
            over.abort();
        }
    }
    async look(attempt) {
        try {
            return await this.read(attempt);
        }
        catch (error) {
            this.report('The store did not answer; an attempt goes on waiting.', error);
            return null;
        }
    }
    async read(attempt) {
        const session = await this.store.open(attempt);
        try {
            return decide(await session.read(), attempt);
        }
        finally {
            session.close();
        }
    }
    async claim(attempt, asked = attempt.fingerprint) {
        const session = await this.store.open(attempt);
        let fingerprint = asked;
        let isClaimed = false;
        try {
            for (let tries = 1; tries <= MAX_CLAIMS; tries++) {
                const claim = await session.claim(fingerprint);
                if (typeof claim === 'object') {
                    isClaimed = true;
                    return { kind: 'claimed', execution: this.start(session, attempt, claim) };
                }
                const decision = decide(await session.read(), attempt);
                if (decision.kind !== 'claimable')
                    return decision;
                if (claim === 'busy')
                    break;
                ({ fingerprint } = decision);
            }
            return { kind: 'in_progress', leaseLeftMs: 0 };
        }
        finally {
            if (!isClaimed)
                session.close();
        }
    }
    start(session, attempt, claim) {
        return new Execution(session, attempt, claim, this.leases, this.report, () => this.leave());
    }
    async accompany(work) {
        if (this.isClosing)
            throw shuttingDown();
        this.underWay++;
        try {
            return await work();
        }
        finally {
            this.leave();
        }
    }
    close() {
        this.isClosing = true;
        this.pauses.endAll();
    }
    async idle() {
        if (this.underWay > 0)
            await new Promise((resolve) => this.waiting.push(resolve));
    }
    leave() {
        this.underWay--;
        if (this.underWay === 0)
            for (const resolve of this.waiting.splice(0))
                resolve();
    }
}
