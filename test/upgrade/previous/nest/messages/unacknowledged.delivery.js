import { replyError, replyOf } from './replies.js';
export function unacknowledgedDelivery(envelope) {
    return {
        envelope,
        settle: async (settlement, { park }) => {
            switch (settlement.kind) {
                case 'acknowledge':
                    return replyOf(settlement);
                case 'retry':
                    throw await replyError(settlement.error);
                case 'park':
                    await park?.();
                    throw await replyError(settlement.error);
            }
        },
    };
}
