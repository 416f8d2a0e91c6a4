import type { Lease, LeaseKeeper, LeaseRenewal, Report } from '../core/ports.js';

interface KeptLease {
  readonly since: number;
  renewedAt: number;
  isRenewing: boolean;
}

/**
 * Keeps the claims of this process alive, as a batch verb: somebody else decides when.
 *
 * A lease is renewed when a third of it has passed, one statement each, until its work settles or it has been kept for
 * `maxAgeMs`. The process's own monotonic clock only decides when to ask; whether the claim still stands is for the
 * database to say.
 */
export class LeaseRenewer implements LeaseKeeper {
  private readonly leases = new Map<Lease, KeptLease>();

  constructor(
    private readonly renewal: LeaseRenewal,
    private readonly maxAgeMs: number,
    private readonly report: Report,
  ) {}

  keep(lease: Lease): () => void {
    const now = performance.now();
    this.leases.set(lease, { since: now, renewedAt: now, isRenewing: false });
    return () => this.leases.delete(lease);
  }

  /** Renews every lease that has grown old; resolves when all have been asked for. */
  async renewDue(): Promise<void> {
    const now = performance.now();
    const due: Promise<void>[] = [];
    for (const [lease, kept] of this.leases) {
      const isOld = now - kept.renewedAt >= lease.leaseMs / 3;
      const isTooOld = now - kept.since >= this.maxAgeMs;
      if (isOld && !isTooOld && !kept.isRenewing) due.push(this.renew(lease, kept, now));
    }
    await Promise.all(due);
  }

  private async renew(lease: Lease, kept: KeptLease, now: number): Promise<void> {
    kept.isRenewing = true;
    try {
      const isOurs = await this.renewal.renew(lease);
      kept.renewedAt = now;
      if (!this.leases.has(lease)) return;
      if (isOurs) return lease.onRenewed();
      this.leases.delete(lease);
      lease.onLost();
    } catch (error) {
      // Not an answer, so not a loss: asked again next time.
      this.report('A lease could not be renewed.', error, lease.operation);
    } finally {
      kept.isRenewing = false;
    }
  }
}
