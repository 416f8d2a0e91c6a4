import { of } from 'rxjs';

import type { Delivery } from './delivery.js';
import { kafkaRetriable, replyOf } from './replies.js';

/** The context of a handler on Nest's Kafka transport. */
export interface KafkaContext {
  getMessage(): { readonly headers?: Readonly<Record<string, unknown>> };
  getConsumer(): unknown;
  getPartition(): number;
}

/** A longer pause would outlast the session of a consumer that says nothing meanwhile. */
const LONGEST_HOLD_MS = 5_000;

/** A delivery by Kafka, which goes on behind a message or stays at it: there is no third way. */
export function kafkaDelivery(context: KafkaContext, payload: unknown): Delivery {
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
          if (await park?.()) return of(undefined);
          // Without a place for it, going on would be to lose it.
          await holds.hold(LONGEST_HOLD_MS);
          throw await kafkaRetriable(settlement.error);
      }
    },
  };
}
