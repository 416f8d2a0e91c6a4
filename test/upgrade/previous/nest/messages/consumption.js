import { IdempotencyError } from '../../core/errors.js';
import { settlementOf } from '../../messaging/settlement.js';
export class Consumption {
    constructor(runs, onSettled, report) {
        this.runs = runs;
        this.onSettled = onSettled;
        this.report = report;
    }
    async consume({ endpoint, settings }, identify, work) {
        const settlement = settlementOf(await this.handle(settings, identify, work), settings.maxTries);
        this.tell(endpoint, settlement);
        return settlement;
    }
    async handle(settings, identify, work) {
        let attempt;
        try {
            attempt = { ...(await identify()), countedTries: settings.maxTries };
        }
        catch (error) {
            if (error instanceof IdempotencyError)
                return { kind: 'refused', error };
            throw error;
        }
        return this.runs.handle(attempt, settings, work);
    }
    tell(endpoint, settlement) {
        if (settlement.kind === 'park') {
            this.report(`A message for ${endpoint} was parked (${settlement.reason}).`, settlement.error);
        }
        else if (settlement.kind === 'retry' && saysOfTheWork(settlement.error)) {
            this.report(`The work of a message for ${endpoint} failed and was undone.`, settlement.error);
        }
        void this.tellApplication(endpoint, settlement);
    }
    async tellApplication(endpoint, settlement) {
        try {
            const telling = this.onSettled?.(endpoint, settlement);
            await telling;
        }
        catch (error) {
            this.report('`messages.onSettled` failed; the message is settled all the same.', error);
        }
    }
}
function saysOfTheWork(error) {
    return !(error instanceof IdempotencyError) || error.code === 'idempotency-work-broken';
}
