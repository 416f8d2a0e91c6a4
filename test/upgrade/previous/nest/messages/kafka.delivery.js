import { of } from 'rxjs';
import { kafkaRetriable, replyOf } from './replies.js';
const LONGEST_HOLD_MS = 5_000;
export function kafkaDelivery(context, payload) {
    const { headers } = context.getMessage();
    return {
        envelope: { payload, ...(headers && { headers }) },
        settle: async (settlement, { holds, park }) => {
            switch (settlement.kind) {
                case 'acknowledge':
                    return replyOf(settlement);
                case 'retry':
                    await holds.hold(Math.min(settlement.afterMs, LONGEST_HOLD_MS));
                    throw await kafkaRetriable(settlement.error);
                case 'park':
                    if (await park?.())
                        return of(undefined);
                    await holds.hold(LONGEST_HOLD_MS);
                    throw await kafkaRetriable(settlement.error);
            }
        },
    };
}
