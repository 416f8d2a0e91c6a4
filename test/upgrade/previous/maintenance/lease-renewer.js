export class LeaseRenewer {
    constructor(renewal, maxAgeMs, report) {
        this.renewal = renewal;
        this.maxAgeMs = maxAgeMs;
        this.report = report;
        this.leases = new Map();
    }
    keep(lease) {
        const now = performance.now();
        this.leases.set(lease, { since: now, renewedAt: now, isRenewing: false });
        return () => this.leases.delete(lease);
    }
    async renewDue() {
        const now = performance.now();
        const due = [];
        for (const [lease, kept] of this.leases) {
            const isOld = now - kept.renewedAt >= lease.leaseMs / 3;
            const isTooOld = now - kept.since >= this.maxAgeMs;
            if (isOld && !isTooOld && !kept.isRenewing)
                due.push(this.renew(lease, kept, now));
        }
        await Promise.all(due);
    }
    async renew(lease, kept, now) {
        kept.isRenewing = true;
        try {
            const isOurs = await this.renewal.renew(lease);
            kept.renewedAt = now;
            if (!this.leases.has(lease))
                return;
            if (isOurs)
                return lease.onRenewed();
            this.leases.delete(lease);
            lease.onLost();
        }
        catch (error) {
            this.report('A lease could not be renewed.', error);
        }
        finally {
            kept.isRenewing = false;
        }
    }
}
