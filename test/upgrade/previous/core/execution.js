import { decide } from './decision.js';
import { storeUnavailable, workBroken } from './errors.js';
import { Steps } from './steps.js';
export class Execution {
    constructor(session, attempt, claim, leases, report, onEnd) {
        this.session = session;
        this.attempt = attempt;
        this.claim = claim;
        this.report = report;
        this.onEnd = onEnd;
        this.work = null;
        this.lastWork = null;
        this.beginning = null;
        this.sealing = null;
        this.settling = null;
        this.afterCommits = [];
        this.lost = new AbortController();
        this.steps = new Steps(session, claim, this.lost.signal);
        this.stopKeeping = leases.keep({
            operation: attempt.operation,
            claim,
            leaseMs: attempt.leaseMs,
            onRenewed: () => this.work?.keepAlive(),
            onLost: () => this.lost.abort(workBroken('The claim was taken over by another worker.')),
        });
    }
    get signal() {
        return this.lost.signal;
    }
    get isSettling() {
        return this.settling !== null;
    }
    get metConflict() {
        return this.lastWork?.metConflict ?? false;
    }
    get isWorking() {
        return this.work !== null;
    }
    get attempts() {
        return this.claim.attempts;
    }
    rest() {
        if (this.work === null)
            this.session.rest();
    }
    async begin() {
        const work = this.isSettling ? null : await this.open();
        if (work === null || this.isSettling)
            throw workBroken('The request was settled before its work could begin.');
        return work.tx;
    }
    afterCommit(callback) {
        this.afterCommits.push(callback);
    }
    seal() {
        const { work } = this;
        if (work === null)
            return Promise.reject(workBroken('There is no open work to seal.'));
        this.sealing ??= work.seal().catch(async (error) => {
            await this.rollback();
            throw error;
        });
        return this.sealing;
    }
    async rollback() {
        const { work } = this;
        this.work = null;
        await work?.rollback();
    }
    settle(verdict) {
        this.settling ??= this.carryOut(verdict).finally(() => {
            this.session.close();
            this.onEnd();
        });
        return this.settling;
    }
    async carryOut(verdict) {
        this.stopKeeping();
        try {
            await this.beginning;
            switch (verdict.kind) {
                case 'commit':
                    return await this.commit(verdict.recording);
                case 'refuse':
                    await this.rollback();
                    try {
                        await this.open();
                    }
                    catch (error) {
                        return await this.resolve(error);
                    }
                    return await this.commit(verdict.recording);
                case 'release':
                    await this.rollback();
                    return (await this.release()) ? { kind: 'released' } : await this.foundTaken();
            }
        }
        catch (error) {
            await this.rollback();
            this.report('An operation could not be settled; its claim stays until the lease runs out.', error);
            return verdict.kind === 'release' ? { kind: 'released' } : { kind: 'unknown', cause: error };
        }
    }
    async open() {
        this.afterCommits = [];
        this.sealing = null;
        const opening = this.session.begin(this.claim).then((work) => (this.work = this.lastWork = work));
        this.beginning = opening.then(() => undefined, () => undefined);
        try {
            return await opening;
        }
        catch (error) {
            this.report('The work of an operation could not begin.', error);
            throw storeUnavailable(error);
        }
    }
    async commit(recording) {
        let cause;
        try {
            await this.seal();
            if (await this.work.record(recording)) {
                await this.work.commit();
                return this.recorded();
            }
        }
        catch (error) {
            cause = error;
        }
        await this.rollback();
        return this.resolve(cause);
    }
    release() {
        return this.session.release(this.claim, this.steps.underWayMs);
    }
    async resolve(cause) {
        if (await this.release()) {
            return { kind: 'failed', cause: cause ?? workBroken('The work ended the transaction it was given.') };
        }
        const record = await this.session.read();
        if (record?.state === 'completed' && record.token === this.claim.token)
            return this.recorded();
        return { kind: 'lost', decision: decide(record, this.attempt) };
    }
    async foundTaken() {
        const decision = decide(await this.session.read(), this.attempt);
        return decision.kind === 'claimable' ? { kind: 'released' } : { kind: 'lost', decision };
    }
    recorded() {
        for (const callback of this.afterCommits)
            void this.callAfterCommit(callback);
        return { kind: 'recorded' };
    }
    async callAfterCommit(callback) {
        try {
            await callback();
        }
        catch (error) {
            this.report('A callback registered with afterCommit() failed; the work itself is committed.', error);
        }
    }
}
