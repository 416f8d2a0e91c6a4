import { createHash } from 'node:crypto';

import { IdempotencyError } from '../core/errors.js';
import { checkedKey, invalidKey, MAX_KEY_LENGTH } from '../core/key.js';
import { type Envelope, headerText } from './envelope.js';

/** What the bindings of CloudEvents put before the names of attributes: NATS and HTTP, Kafka, AMQP (either form). */
const CLOUD_EVENT_PREFIXES = ['ce-', 'ce_', 'cloudEvents:', 'cloudEvents_'];

/**
 * The id by which a message is recognised when it is delivered again, as the conventions have it, in this order:
 * CloudEvents `source` and `id`, `webhook-id` (Standard Webhooks), the transport's own field (AMQP `message-id`),
 * `Nats-Msg-Id`.
 *
 * @throws {IdempotencyError} `idempotency-key-missing` where there is none: no delivery of such a message can be told
 *   from another, whatever is tried; `idempotency-key-invalid` where it cannot be a key.
 */
export function messageIdOf(envelope: Envelope): string {
  const id =
    cloudEventId(envelope) ??
    headerText(envelope, 'webhook-id') ??
    envelope.messageId ??
    headerText(envelope, 'Nats-Msg-Id');
  if (id === undefined) throw messageIdMissing();
  return checkedKey(id);
}

/**
 * The hash of a payload in the place of an id, for senders that give none.
 *
 * Two messages that say the same are taken for one, also where both were meant: two payments of one amount from one
 * account to another are one. Only for messages that hold something which is never the same twice.
 */
export function contentId(payload: Uint8Array | string): string {
  return `sha256:${createHash('sha256').update(payload).digest('hex')}`;
}

/** Nobody can tell whether a message without an id has been there before. `cause` is why none was found. */
export function messageIdMissing(cause?: unknown): IdempotencyError {
  return new IdempotencyError(
    'idempotency-key-missing',
    'The message carries no id. Let its sender give one that stays the same when it is sent again, or say where it ' +
      'stands with the `key` option.',
    { cause },
  );
}

/** Source and id together: an id is unique within its source only (CloudEvents 1.0, "id"). */
function cloudEventId(envelope: Envelope): string | undefined {
  const attributes = binaryAttributes(envelope) ?? structuredAttributes(envelope.payload);
  if (!attributes) return undefined;
  const { source, id } = attributes;
  // An id that says nothing would be shared by all that have none.
  if (source.trim() === '' || id.trim() === '') throw invalidKey('empty');
  const both = JSON.stringify([source, id]);
  const fitsAsItIs = both.length <= MAX_KEY_LENGTH && /^[\x20-\x7e]+$/.test(both);
  return fitsAsItIs ? both : contentId(both);
}

interface Attributes {
  readonly source: string;
  readonly id: string;
}

/** Attributes beside the payload. */
function binaryAttributes(envelope: Envelope): Attributes | undefined {
  for (const prefix of CLOUD_EVENT_PREFIXES) {
    const source = headerText(envelope, `${prefix}source`);
    const id = headerText(envelope, `${prefix}id`);
    if (source !== undefined && id !== undefined) return { source, id };
  }
  return undefined;
}

/** Attributes inside the payload, which says of itself that it is an event. */
function structuredAttributes(payload: unknown): Attributes | undefined {
  if (typeof payload !== 'object' || payload === null) return undefined;
  const { specversion, source, id } = payload as Record<string, unknown>;
  const isEvent = typeof specversion === 'string' && typeof source === 'string' && typeof id === 'string';
  return isEvent ? { source, id } : undefined;
}
