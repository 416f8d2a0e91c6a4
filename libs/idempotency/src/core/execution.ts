import type { Attempt } from './attempt.js';
import type { Claim } from './claim.js';
import { decide, type Decision } from './decision.js';
import { IdempotencyError, type IdempotencyErrorCode, storeUnavailable, workBroken } from './errors.js';
import type { Observation } from './observation.js';
import { type Ending, endingOf } from './outcome.js';
import type { LeaseKeeper, Report, Session, Work } from './ports.js';
import type { Recording } from './recording.js';
import { Steps } from './steps.js';

/** What is to become of an execution, now that its answer is known. */
export type Verdict =
  /** The work stands: commit it together with its recording. */
  | { readonly kind: 'commit'; readonly recording: Recording }
  /** The work is undone, and the refusal is as good for every retry. */
  | { readonly kind: 'refuse'; readonly recording: Recording; readonly error?: IdempotencyErrorCode }
  /** The work is undone; a retry may run again at once. `ending` is what the attempt has come to then, or `failed`. */
  | { readonly kind: 'release'; readonly ending?: Ending };

/** What has become of it. Only after `recorded` may the client be told that the work was done. */
export type Fate =
  | { readonly kind: 'recorded' }
  | { readonly kind: 'released' }
  /** Rolled back for certain, and released. */
  | { readonly kind: 'failed'; readonly cause: unknown }
  /** Someone else took the operation over; the decision is what their record means for us. */
  | { readonly kind: 'lost'; readonly decision: Decision }
  /** The store does not say. The claim stays, until its lease runs out. */
  | { readonly kind: 'unknown'; readonly cause: unknown };

/**
 * One claimed operation from its claim to its settlement.
 *
 * `begin`, the handler, `seal` (or `rollback` where it failed), the answer, `settle`. After a rollback `begin` may be
 * called again: the claim is still ours, or it rejects.
 */
export class Execution<Tx> {
  /** The outside calls of the operation. */
  readonly steps: Steps;
  private work: Work<Tx> | null = null;
  private lastWork: Work<Tx> | null = null;
  private beginning: Promise<void> | null = null;
  private sealing: Promise<void> | null = null;
  private settling: Promise<Fate> | null = null;
  private readonly endings: ((isCommitted: boolean) => unknown)[] = [];
  private readonly lost = new AbortController();
  private readonly stopKeeping: () => void;

  constructor(
    private readonly session: Session<Tx>,
    readonly attempt: Attempt,
    private readonly claim: Claim,
    leases: LeaseKeeper,
    private readonly report: Report,
    private readonly observation: Observation,
    private readonly onEnd: () => void,
  ) {
    observation.claimed(claim.attempts);
    this.steps = new Steps(session, claim, this.lost.signal, observation);
    this.stopKeeping = leases.keep({
      operation: attempt.operation,
      claim,
      leaseMs: attempt.leaseMs,
      onRenewed: () => this.work?.keepAlive(),
      onLost: () => {
        observation.lose();
        this.lost.abort(workBroken('The claim was taken over by another worker.'));
      },
    });
  }

  /** Aborted when the claim turns out to be taken over: nothing done from then on can be committed. */
  get signal(): AbortSignal {
    return this.lost.signal;
  }

  /** Its verdict is known; nothing can change its fate any more. */
  get isSettling(): boolean {
    return this.settling !== null;
  }

  /** The last work had to give way to other transactions, whatever its handler made of that. */
  get metConflict(): boolean {
    return this.lastWork?.metConflict ?? false;
  }

  /** A transaction of the work is open. */
  get isWorking(): boolean {
    return this.work !== null;
  }

  /** Which attempt at the operation this is, counted from 1. */
  get attempts(): number {
    return this.claim.attempts;
  }

  /** Gives the store's connection back until it is needed again; harmless while work is open. */
  rest(): void {
    if (this.work === null) this.session.rest();
  }

  /** Opens the work's transaction. Rejects when the store is away, or the execution was settled meanwhile. */
  async begin(): Promise<Tx> {
    const work = this.isSettling ? null : await this.open();
    if (work === null || this.isSettling) throw workBroken('The request was settled before its work could begin.');
    return work.tx;
  }

  /** Registers what is to happen once the work is committed; it never happens otherwise, and never twice. */
  afterCommit(callback: () => unknown): void {
    this.onWorkEnded((isCommitted) => (isCommitted ? callback() : undefined));
  }

  /** Registers who is told, once, how the open work has ended: committed or undone. Where nobody knows, nobody is told. */
  onWorkEnded(callback: (isCommitted: boolean) => unknown): void {
    this.endings.push(callback);
  }

  /** Runs the handler, so that what it does is known to be the work of this operation. */
  working<Result>(handler: () => Promise<Result>): Promise<Result> {
    return this.observation.working(handler);
  }

  /** The work is over: nothing more can be written. Rolls back and rejects where it cannot be committed. */
  seal(): Promise<void> {
    const { work } = this;
    if (work === null) return Promise.reject(workBroken('There is no open work to seal.'));
    this.sealing ??= work.seal().catch(async (error: unknown) => {
      await this.rollback();
      throw error;
    });
    return this.sealing;
  }

  /** The work failed: everything it wrote is undone, and the claim kept. */
  async rollback(): Promise<void> {
    const { work } = this;
    this.work = null;
    await work?.rollback();
  }

  /** Carries the verdict out, once; every further call gets the first one's fate. Never rejects. */
  settle(verdict: Verdict): Promise<Fate> {
    this.settling ??= this.end(verdict).finally(() => {
      this.session.close();
      this.onEnd();
    });
    return this.settling;
  }

  private end(verdict: Verdict): Promise<Fate> {
    const settle = async (): Promise<Fate> => {
      const fate = await this.carryOut(verdict);
      if (fate.kind !== 'unknown') this.workEnded(fate.kind === 'recorded');
      if (fate.kind === 'lost') this.observation.lose();
      this.observation.end(this.endingBy(verdict, fate));
      return fate;
    };
    return verdict.kind === 'release' ? settle() : this.observation.trace('record', settle);
  }

  private endingBy(verdict: Verdict, fate: Fate): Ending {
    switch (fate.kind) {
      case 'recorded':
        if (verdict.kind !== 'refuse') return { outcome: 'executed' };
        return { outcome: 'refused_on_record', ...(verdict.error && { error: verdict.error }) };
      case 'released':
        return (verdict.kind === 'release' ? verdict.ending : undefined) ?? { outcome: 'failed' };
      case 'failed':
        if (fate.cause instanceof IdempotencyError) return endingOf(fate.cause, 'work_broken');
        if (this.metConflict) return { outcome: 'work_conflict', error: 'idempotency-work-conflict' };
        return { outcome: 'work_broken', error: 'idempotency-work-broken' };
      case 'lost':
        return { outcome: 'lost' };
      case 'unknown':
        return { outcome: 'commit_unknown', error: 'idempotency-store-unavailable' };
    }
  }

  private async carryOut(verdict: Verdict): Promise<Fate> {
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
          } catch (error) {
            return await this.resolve(error);
          }
          return await this.commit(verdict.recording);
        case 'release':
          await this.rollback();
          return (await this.release()) ? { kind: 'released' } : await this.foundTaken();
      }
    } catch (error) {
      await this.rollback();
      this.report('An operation could not be settled; its claim stays until the lease runs out.', error);
      return verdict.kind === 'release' ? { kind: 'released' } : { kind: 'unknown', cause: error };
    }
  }

  private async open(): Promise<Work<Tx>> {
    this.workEnded(false);
    this.sealing = null;
    const opening = this.session.begin(this.claim).then((work) => (this.work = this.lastWork = work));
    // Whoever settles meanwhile waits for it, and need not know how it failed.
    this.beginning = opening.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await opening;
    } catch (error) {
      this.report('The work of an operation could not begin.', error);
      throw storeUnavailable(error);
    }
  }

  private async commit(recording: Recording): Promise<Fate> {
    let cause: unknown;
    try {
      await this.seal();
      if (await this.work!.record(recording)) {
        await this.work!.commit();
        return { kind: 'recorded' };
      }
    } catch (error) {
      cause = error;
    }
    await this.rollback();
    return this.resolve(cause);
  }

  /** Others may come, once no call is on its way any more that the next of them would ask about. */
  private release(): Promise<boolean> {
    return this.session.release(this.claim, this.steps.underWayMs);
  }

  /** Nobody confirmed the commit: whoever can still delete our claim knows that it never happened. */
  private async resolve(cause: unknown): Promise<Fate> {
    if (await this.release()) {
      return { kind: 'failed', cause: cause ?? workBroken('The work ended the transaction it was given.') };
    }
    const record = await this.session.read();
    if (record?.state === 'completed' && record.token === this.claim.token) return { kind: 'recorded' };
    return { kind: 'lost', decision: decide(record, this.attempt) };
  }

  /** There was nothing to release: whoever holds the operation now has the answer, not the work that failed here. */
  private async foundTaken(): Promise<Fate> {
    const decision = decide(await this.session.read(), this.attempt);
    return decision.kind === 'claimable' ? { kind: 'released' } : { kind: 'lost', decision };
  }

  private workEnded(isCommitted: boolean): void {
    for (const callback of this.endings.splice(0)) void this.tell(callback, isCommitted);
  }

  private async tell(callback: (isCommitted: boolean) => unknown, isCommitted: boolean): Promise<void> {
    try {
      await callback(isCommitted);
    } catch (error) {
      this.report('A callback registered with afterCommit() failed; the work itself is committed.', error);
    }
  }
}
