import { createHash } from 'node:crypto';
import { IdempotencyError } from '../core/errors.js';
import { checkedKey, invalidKey, MAX_KEY_LENGTH } from '../core/key.js';
import { headerText } from './envelope.js';
const CLOUD_EVENT_PREFIXES = ['ce-', 'ce_', 'cloudEvents:', 'cloudEvents_'];
export function messageIdOf(envelope) {
    const id = cloudEventId(envelope) ??
        headerText(envelope, 'webhook-id') ??
        envelope.messageId ??
        headerText(envelope, 'Nats-Msg-Id');
    if (id === undefined)
        throw messageIdMissing();
    return checkedKey(id);
}
export function contentId(payload) {
    return `sha256:${createHash('sha256').update(payload).digest('hex')}`;
}
export function messageIdMissing(cause) {
    return new IdempotencyError('idempotency-key-missing', 'The message carries no id. Let its sender give one that stays the same when it is sent again, or say where it ' +
        'stands with the `key` option.', { cause });
}
function cloudEventId(envelope) {
    const attributes = binaryAttributes(envelope) ?? structuredAttributes(envelope.payload);
    if (!attributes)
        return undefined;
    const { source, id } = attributes;
    if (source.trim() === '' || id.trim() === '')
        throw invalidKey('empty');
    const both = JSON.stringify([source, id]);
    const fitsAsItIs = both.length <= MAX_KEY_LENGTH && /^[\x20-\x7e]+$/.test(both);
    return fitsAsItIs ? both : contentId(both);
}
function binaryAttributes(envelope) {
    for (const prefix of CLOUD_EVENT_PREFIXES) {
        const source = headerText(envelope, `${prefix}source`);
        const id = headerText(envelope, `${prefix}id`);
        if (source !== undefined && id !== undefined)
            return { source, id };
    }
    return undefined;
}
function structuredAttributes(payload) {
    if (typeof payload !== 'object' || payload === null)
        return undefined;
    const { specversion, source, id } = payload;
    const isEvent = typeof specversion === 'string' && typeof source === 'string' && typeof id === 'string';
    return isEvent ? { source, id } : undefined;
}
