const PAUSES = 3;
const FROM_THE_FIRST = '-infinity';
export class Sweeper {
    constructor(sweep, batch, pauses, report) {
        this.sweep = sweep;
        this.batch = batch;
        this.pauses = pauses;
        this.report = report;
        this.running = null;
        this.isStopping = false;
    }
    sweepDue() {
        this.running ??= this.sweepAll().finally(() => (this.running = null));
        return this.running;
    }
    async stop() {
        this.isStopping = true;
        this.pauses.endAll();
        await this.running;
    }
    async sweepAll() {
        let swept = 0;
        let single = 0;
        let next = FROM_THE_FIRST;
        while (next !== null && !this.isStopping) {
            const from = next;
            const startedAt = performance.now();
            const batch = single > 0 ? 1 : this.batch;
            try {
                const { count, last } = await this.sweep.sweep(batch, from);
                swept += count;
                next = count < batch ? null : last;
                if (single > 0)
                    single--;
            }
            catch (error) {
                if (batch > 1)
                    single = batch;
                else {
                    next = await this.beyond(from, error);
                    single = 0;
                }
            }
            if (next !== null)
                await this.pauses.for(PAUSES * (performance.now() - startedAt));
        }
        return swept;
    }
    async beyond(from, error) {
        try {
            const next = await this.sweep.beyond(from);
            this.report('A record past its retention could not be deleted, and was left out.', error);
            return next;
        }
        catch {
            this.report('The store did not answer; records past their retention are swept another time.', error);
            return null;
        }
    }
}
