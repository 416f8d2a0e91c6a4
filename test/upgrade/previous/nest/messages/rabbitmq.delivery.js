import { EMPTY, NEVER } from 'rxjs';
import { IdempotencyError, workBroken } from '../../core/errors.js';
import { PARK_RETRY_MS } from './delivery.js';
import { replyError, replyOf } from './replies.js';
export function amqpEnvelope({ properties }, payload) {
    const { messageId, headers } = properties;
    return { payload, ...(headers && { headers }), ...(messageId !== undefined && { messageId }) };
}
const TAKEN_OVER = new WeakSet();
export function leaveUnsettled(context) {
    if (context && 'getChannelRef' in context)
        TAKEN_OVER.add(context.getMessage());
}
export function isTakenOver(context) {
    return TAKEN_OVER.has(context.getMessage());
}
export function settlingOf(context) {
    const message = context.getMessage();
    const channel = context.getChannelRef();
    let isDone = false;
    context.getArgs()[1] = withSettling(channel, (settle) => {
        isDone = true;
        return settle();
    });
    return {
        get isDone() {
            return isDone;
        },
        deadLetter: () => channel.nack(message, false, false),
        giveBack: () => channel.nack(message, false, true),
    };
}
export function rabbitMqDelivery(context, payload, isEvent) {
    const message = context.getMessage();
    const channel = context.getChannelRef();
    const isRequest = !isEvent && Boolean(message.properties.replyTo);
    return {
        envelope: amqpEnvelope(message, payload),
        takeOver: () => {
            TAKEN_OVER.add(message);
            context.getArgs()[1] = withoutSettling(channel);
        },
        settle: async (settlement, terms) => {
            switch (settlement.kind) {
                case 'acknowledge':
                    channel.ack(message);
                    return isRequest ? replyOf(settlement) : EMPTY;
                case 'retry':
                    return giveBack(settlement, terms);
                case 'park':
                    return putAside(settlement.error, terms);
            }
        },
    };
    async function giveBack({ afterMs, error }, { holds }) {
        const isElsewhere = error instanceof IdempotencyError && error.code === 'idempotency-request-in-progress';
        if (isRequest && !isElsewhere) {
            channel.ack(message);
            throw await replyError(error);
        }
        return deliverAgain(afterMs, holds);
    }
    async function deliverAgain(afterMs, holds) {
        await holds.hold(afterMs);
        if (!holds.isClosing)
            channel.nack(message, false, true);
        return isRequest ? NEVER : EMPTY;
    }
    async function putAside(error, { holds, park }) {
        if (!park)
            channel.nack(message, false, false);
        else if (await park())
            channel.ack(message);
        else
            return deliverAgain(PARK_RETRY_MS, holds);
        if (isRequest)
            throw await replyError(error);
        return EMPTY;
    }
}
const SETTLING = new Set(['ack', 'ackAll', 'nack', 'nackAll', 'reject']);
function withoutSettling(channel) {
    return withSettling(channel, refuseToSettle);
}
function withSettling(channel, settle) {
    return new Proxy(channel, {
        get: (target, name) => {
            const value = Reflect.get(target, name, target);
            if (typeof value !== 'function')
                return value;
            const call = value.bind(target);
            return SETTLING.has(name) ? (...args) => settle(() => call(...args)) : call;
        },
    });
}
function refuseToSettle() {
    throw workBroken('An idempotent handler settled its message itself. The library does that when the effect is committed, or has ' +
        'failed: remove the call.');
}
