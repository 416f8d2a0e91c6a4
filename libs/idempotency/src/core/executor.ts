import type { Attempt } from './attempt.js';
import type { Claim } from './claim.js';
import { decide, type Decision } from './decision.js';
import { shuttingDown, storeUnavailable } from './errors.js';
import { Execution } from './execution.js';
import type { LeaseKeeper, Report, Session, Store } from './ports.js';

/** How often an attempt tries to claim an operation whose record keeps changing under it. */
const MAX_CLAIMS = 5;

export type Arrival<Tx> =
  { readonly kind: 'claimed'; readonly execution: Execution<Tx> } | Exclude<Decision, { kind: 'claimable' }>;

/** The protocol's entrance: decides what becomes of each attempt, and knows which ones are under way. */
export class Executor<Tx> {
  private underWay = 0;
  private isClosing = false;
  private readonly waiting: (() => void)[] = [];

  constructor(
    private readonly store: Store<Tx>,
    private readonly leases: LeaseKeeper,
    private readonly report: Report,
  ) {}

  /**
   * Claims the operation, or says what stands in the way.
   *
   * @throws {IdempotencyError} `idempotency-store-unavailable` when the store does not answer;
   *   `idempotency-shutting-down` after {@link close}.
   */
  async arrive(attempt: Attempt): Promise<Arrival<Tx>> {
    if (this.isClosing) throw shuttingDown();
    this.underWay++;
    let arrival: Arrival<Tx> | undefined;
    try {
      return (arrival = await this.decideOn(attempt));
    } catch (error) {
      this.report('The store did not answer; an attempt was refused.', error);
      throw storeUnavailable(error);
    } finally {
      if (arrival?.kind !== 'claimed') this.leave();
    }
  }

  private async decideOn(attempt: Attempt): Promise<Arrival<Tx>> {
    const session = await this.store.open(attempt);
    let isClaimed = false;
    try {
      for (let tries = 0; tries < MAX_CLAIMS; tries++) {
        const claim = await session.claim();
        if (claim !== null) {
          isClaimed = true;
          return { kind: 'claimed', execution: this.start(session, attempt, claim) };
        }
        const decision = decide(await session.read(), attempt.fingerprint);
        if (decision.kind !== 'claimable') return decision;
      }
      return { kind: 'in_progress', leaseLeftMs: 0 };
    } finally {
      if (!isClaimed) session.close();
    }
  }

  private start(session: Session<Tx>, attempt: Attempt, claim: Claim): Execution<Tx> {
    return new Execution(session, attempt, claim, this.leases, this.report, () => this.leave());
  }

  /** Takes no new attempts from now on. */
  close(): void {
    this.isClosing = true;
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
