import type { Attempt } from './attempt.js';
import type { Claim } from './claim.js';
import { decide, type Decision } from './decision.js';
import { IdempotencyError, shuttingDown, storeUnavailable } from './errors.js';
import { Execution } from './execution.js';
import { type Observation, unobserved } from './observation.js';
import { endingOf } from './outcome.js';
import { NO_PATIENCE, type Patience, pauseMs, Pauses } from './patience.js';
import type { LeaseKeeper, Report, Session, Store } from './ports.js';
import { REFUSAL_CODES } from './refusal.js';
import { about } from './report.js';

/** How often an attempt tries to claim an operation whose record keeps changing under it. */
const MAX_CLAIMS = 5;

export type Arrival<Tx> =
  { readonly kind: 'claimed'; readonly execution: Execution<Tx> } | Exclude<Decision, { kind: 'claimable' }>;

/** The protocol's entrance: decides what becomes of each attempt, and knows which ones are under way. */
export class Executor<Tx> {
  private underWay = 0;
  private isClosing = false;
  private readonly pauses = new Pauses();
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly store: Store<Tx>,
    private readonly leases: LeaseKeeper,
    private readonly report: Report,
  ) {}

  /**
   * Claims the operation, or says what stands in the way.
   *
   * An attempt with patience comes back for as long as the operation is in progress. It holds nothing of the store
   * meanwhile, and gives up when the executor closes.
   *
   * @throws {IdempotencyError} `idempotency-store-unavailable` when the store does not answer;
   *   `idempotency-shutting-down` after {@link close}.
   */
  async arrive(
    attempt: Attempt,
    patience: Patience = NO_PATIENCE,
    observation: Observation = unobserved(attempt.operation),
  ): Promise<Arrival<Tx>> {
    try {
      const arrival = await observation.trace('claim', () => this.admit(attempt, patience, observation));
      if (arrival.kind !== 'claimed' && arrival.kind !== 'replay') {
        observation.end({ outcome: arrival.kind, error: REFUSAL_CODES[arrival.kind] });
      }
      return arrival;
    } catch (error) {
      observation.end(endingOf(error, 'store_unavailable'));
      throw error;
    }
  }

  private async admit(attempt: Attempt, patience: Patience, observation: Observation): Promise<Arrival<Tx>> {
    if (this.isClosing) throw shuttingDown();
    this.underWay++;
    let arrival: Arrival<Tx> | undefined;
    try {
      arrival = await this.outlast(attempt, patience, observation);
      observation.decision = arrival.kind;
      return arrival;
    } catch (error) {
      if (error instanceof IdempotencyError) throw error;
      this.report('The store did not answer; an attempt was refused.', error, attempt.operation);
      throw storeUnavailable(error);
    } finally {
      if (arrival?.kind !== 'claimed') this.leave();
    }
  }

  private async outlast(attempt: Attempt, patience: Patience, observation: Observation): Promise<Arrival<Tx>> {
    const claim = (fingerprint?: Uint8Array) =>
      observation.claiming(() => this.claim(attempt, observation, fingerprint));
    let arrival = await claim();
    const { patienceMs, signal } = patience;
    if (patienceMs === 0 || arrival.kind !== 'in_progress') return arrival;
    const endsAt = performance.now() + patienceMs;
    // Closed while the first look was under way: nobody would end the pauses any more.
    if (this.isClosing) throw shuttingDown();
    const over = new AbortController();
    const waiting = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
    const impatience = this.pauses.for(patienceMs, waiting).then(() => null);
    try {
      for (let looks = 0; arrival.kind === 'in_progress'; looks++) {
        const leftMs = endsAt - performance.now();
        if (leftMs <= 0) break;
        await this.pauses.for(Math.min(pauseMs(looks), leftMs), signal);
        const found = await Promise.race([this.look(attempt), impatience]);
        if (this.isClosing) throw shuttingDown();
        if (signal?.aborted) break;
        if (found !== null) arrival = found.kind === 'claimable' ? await claim(found.fingerprint) : found;
      }
      return arrival;
    } finally {
      over.abort();
    }
  }

  /** What the record says now; null where the store does not tell. It takes no lock and writes nothing. */
  private async look(attempt: Attempt): Promise<Decision | null> {
    try {
      return await this.read(attempt);
    } catch (error) {
      this.report('The store did not answer; an attempt goes on waiting.', error, attempt.operation);
      return null;
    }
  }

  private async read(attempt: Attempt): Promise<Decision> {
    const session = await this.store.open(attempt);
    try {
      return decide(await session.read(), attempt);
    } finally {
      session.close();
    }
  }

  /** Claims at once, and looks only at what stands in the way. */
  private async claim(attempt: Attempt, observation: Observation, asked = attempt.fingerprint): Promise<Arrival<Tx>> {
    const session = await this.store.open(attempt);
    let fingerprint = asked;
    let isClaimed = false;
    try {
      for (let tries = 1; tries <= MAX_CLAIMS; tries++) {
        const claim = await session.claim(fingerprint);
        if (typeof claim === 'object') {
          isClaimed = true;
          return { kind: 'claimed', execution: this.start(session, attempt, claim, observation) };
        }
        const decision = decide(await session.read(), attempt);
        if (decision.kind !== 'claimable') return decision;
        if (claim === 'busy') break;
        ({ fingerprint } = decision);
      }
      return { kind: 'in_progress', leaseLeftMs: 0 };
    } finally {
      if (!isClaimed) session.close();
    }
  }

  private start(session: Session<Tx>, attempt: Attempt, claim: Claim, observation: Observation): Execution<Tx> {
    const report = about(this.report, attempt.operation);
    return new Execution(session, attempt, claim, this.leases, report, observation, () => this.leave());
  }

  /**
   * Runs what is no attempt, such as work without a key, as one of those that {@link idle} waits for.
   *
   * @throws {IdempotencyError} `idempotency-shutting-down` after {@link close}.
   */
  async accompany<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.isClosing) throw shuttingDown();
    this.underWay++;
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** Takes no new attempts from now on. */
  close(): void {
    this.isClosing = true;
    this.pauses.endAll();
  }

  /** Resolves once no attempt is under way. */
  async idle(): Promise<void> {
    if (this.underWay > 0) await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private leave(): void {
    this.underWay--;
    if (this.underWay === 0) for (const resolve of this.waiting.splice(0)) resolve();
  }
}
