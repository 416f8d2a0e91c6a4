import { golevelupDelivery } from './golevelup.delivery.js';
import { isEventHandler } from './handler-metadata.js';
import { kafkaDelivery } from './kafka.delivery.js';
import { rabbitMqDelivery } from './rabbitmq.delivery.js';
import { unacknowledgedDelivery } from './unacknowledged.delivery.js';
export function deliveryTo(context) {
    if (context.getType() === 'rmq') {
        const [payload, message] = context.getArgs();
        return golevelupDelivery(message, payload);
    }
    const rpc = context.switchToRpc();
    const payload = rpc.getData();
    const transport = rpc.getContext() ?? {};
    if (transport.getChannelRef) {
        return rabbitMqDelivery(transport, payload, isEventHandler(context.getHandler()));
    }
    if (transport.getConsumer)
        return kafkaDelivery(transport, payload);
    return unacknowledgedDelivery(envelopeOf(transport, payload));
}
function envelopeOf(transport, payload) {
    const headers = headersOf(transport);
    return headers ? { payload, headers } : { payload };
}
function headersOf(transport) {
    if (transport.getSubject) {
        const headers = transport.getHeaders?.();
        return headers && Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)]));
    }
    if (transport.getPacket)
        return transport.getPacket().properties?.userProperties;
    const metadata = transport.getMetadata?.();
    return typeof metadata === 'object' && metadata !== null ? metadata : undefined;
}
