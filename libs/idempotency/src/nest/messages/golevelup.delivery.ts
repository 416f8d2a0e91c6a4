import { type Observable, of } from 'rxjs';

import type { Delivery } from './delivery.js';
import { type AmqpMessage, amqpEnvelope } from './rabbitmq.delivery.js';

/** A delivery to a handler of @golevelup/nestjs-rabbitmq, which settles by what the handler returns. */
export function golevelupDelivery(message: AmqpMessage, payload: unknown): Delivery {
  return {
    envelope: amqpEnvelope(message, payload),
    settle: async (settlement, { holds, park }) => {
      switch (settlement.kind) {
        case 'acknowledge': {
          const { outcome } = settlement;
          // One that nobody waits for an answer to must return nothing.
          return of(message.properties.replyTo && 'value' in outcome ? outcome.value : undefined);
        }
        case 'retry':
          await holds.hold(settlement.afterMs);
          return giveBack(true);
        case 'park':
          if (!park) return giveBack(false);
          await park();
          return of(undefined);
      }
    },
  };
}

async function giveBack(isToBeRequeued: boolean): Promise<Observable<unknown>> {
  const { Nack } = await import('@golevelup/nestjs-rabbitmq');
  return of(new Nack(isToBeRequeued));
}
