import { of } from 'rxjs';
import { workBroken } from '../../core/errors.js';
import { PARK_RETRY_MS } from './delivery.js';
import { amqpEnvelope } from './rabbitmq.delivery.js';
export function golevelupDelivery(message, payload) {
    return {
        envelope: amqpEnvelope(message, payload),
        assertReturnable: async (value) => {
            const { Nack } = await import('@golevelup/nestjs-rabbitmq');
            if (!(value instanceof Nack))
                return;
            throw workBroken('An idempotent handler returned a Nack: its work would be committed, and its message acknowledged. Throw ' +
                'instead, and the library undoes the work and gives the message back.');
        },
        settle: async (settlement, { holds, park }) => {
            switch (settlement.kind) {
                case 'acknowledge': {
                    const { outcome } = settlement;
                    return of(message.properties.replyTo && 'value' in outcome ? outcome.value : undefined);
                }
                case 'retry':
                    await holds.hold(settlement.afterMs);
                    return giveBack(true);
                case 'park':
                    if (!park)
                        return giveBack(false);
                    if (await park())
                        return of(undefined);
                    await holds.hold(PARK_RETRY_MS);
                    return giveBack(true);
            }
        },
    };
}
async function giveBack(isToBeRequeued) {
    const { Nack } = await import('@golevelup/nestjs-rabbitmq');
    return of(new Nack(isToBeRequeued));
}
