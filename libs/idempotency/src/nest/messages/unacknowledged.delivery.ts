import type { Observable } from 'rxjs';

import type { Envelope } from '../../messaging/envelope.js';
import type { Settlement } from '../../messaging/settlement.js';
import type { Delivery, SettlingTerms } from './delivery.js';
import { replyError, replyOf } from './replies.js';

/**
 * A delivery by a transport that forgets a message once it has delivered it, such as TCP, Redis, MQTT or NATS without
 * JetStream: who sent it is told what became of it, if he waits for an answer, and sends it again.
 */
export function unacknowledgedDelivery(envelope: Envelope): Delivery {
  return {
    envelope,
    settle: async (settlement: Settlement, { park }: SettlingTerms): Promise<Observable<unknown>> => {
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
