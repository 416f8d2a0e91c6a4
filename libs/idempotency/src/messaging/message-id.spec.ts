import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { Envelope } from './envelope.js';
import { contentId, messageIdOf } from './message-id.js';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const withHeaders = (headers: Envelope['headers'], rest: Partial<Envelope> = {}): Envelope => ({
  payload: {},
  ...(headers && { headers }),
  ...rest,
});

const EVENT = { specversion: '1.0', source: '/orders', id: '7', type: 'order.paid', data: {} };

/** Every convention at once, the first of which counts. */
const INHERITED: [convention: string, key: string, envelope: Envelope][] = [
  [
    'CloudEvents attributes beside the payload',
    '["/orders","1"]',
    withHeaders(
      { 'ce-source': '/orders', 'ce-id': '1', 'webhook-id': '2', 'Nats-Msg-Id': '4' },
      { messageId: '3', payload: EVENT },
    ),
  ],
  [
    'CloudEvents attributes inside the payload',
    '["/orders","7"]',
    withHeaders({ 'webhook-id': '2', 'Nats-Msg-Id': '4' }, { messageId: '3', payload: EVENT }),
  ],
  ['webhook-id', '2', withHeaders({ 'webhook-id': '2', 'Nats-Msg-Id': '4' }, { messageId: '3' })],
  ["the transport's own field", '3', withHeaders({ 'Nats-Msg-Id': '4' }, { messageId: '3' })],
  ['Nats-Msg-Id', '4', withHeaders({ 'Nats-Msg-Id': '4' })],
];

const BINDINGS: [binding: string, headers: Record<string, unknown>][] = [
  ['HTTP and NATS', { 'ce-specversion': '1.0', 'ce-source': '/orders', 'ce-id': '7' }],
  ['HTTP, its names written otherwise', { 'Ce-Source': '/orders', 'CE-ID': '7' }],
  ['Kafka', { ce_specversion: bytes('1.0'), ce_source: bytes('/orders'), ce_id: bytes('7') }],
  ['AMQP', { 'cloudEvents:source': '/orders', 'cloudEvents:id': '7' }],
  ['AMQP, where names may hold no colon', { cloudEvents_source: '/orders', cloudEvents_id: '7' }],
];

const LONG = 'x'.repeat(300);

describe('the id of a message', () => {
  it.each(INHERITED)('is taken from %s before what comes after it', (_, key, envelope) => {
    expect(messageIdOf(envelope)).toBe(key);
  });

  it.each(BINDINGS)('is source and id of a CloudEvent as %s carries it', (_, headers) => {
    expect(messageIdOf(withHeaders(headers))).toBe('["/orders","7"]');
  });

  it('is source and id of a CloudEvent in structured mode', () => {
    expect(messageIdOf({ payload: EVENT })).toBe('["/orders","7"]');
  });

  it.each<[what: string, payload: unknown]>([
    ['members of these names that say nothing of being an event', { source: '/orders', id: '7' }],
    ['an id that is no text', { ...EVENT, id: 7 }],
    ['no source', { ...EVENT, source: undefined }],
    ['text', JSON.stringify(EVENT)],
    ['nothing', null],
  ])('is not looked for in a payload that has %s', (_, payload) => {
    expect(messageIdOf({ payload, messageId: 'm' })).toBe('m');
  });

  it('is not put together from two bindings', () => {
    const headers = { 'ce-source': '/orders', ce_id: '7' };
    expect(messageIdOf(withHeaders(headers, { messageId: 'm' }))).toBe('m');
  });

  it('is never an id without its source', () => {
    expect(messageIdOf(withHeaders({ 'ce-id': '7' }, { messageId: 'm' }))).toBe('m');
  });

  it.each<[what: string, source: string, id: string]>([
    ['too long', '/orders', LONG],
    ['not ASCII', '/commandes/é', '7'],
  ])('is a hash of source and id where these are %s', (_, source, id) => {
    const hash = createHash('sha256')
      .update(JSON.stringify([source, id]))
      .digest('hex');
    expect(messageIdOf(withHeaders({ 'ce-source': source, 'ce-id': id }))).toBe(`sha256:${hash}`);
  });

  it('is another one for every other pair of source and id', () => {
    const text = fc
      .oneof(
        fc.string({ unit: 'binary', minLength: 1, maxLength: 400 }),
        fc.constantFrom('a', 'a"', 'a","', '","b', 'b', '\\', '\ud800', '\\ud800', '\ufffd'),
      )
      .filter((given) => given.trim() !== '');
    fc.assert(
      fc.property(fc.tuple(text, text), fc.tuple(text, text), (one, other) => {
        const [first, second] = [one, other].map(([source, id]) => messageIdOf({ payload: { ...EVENT, source, id } }));
        expect(first === second).toBe(one[0] === other[0] && one[1] === other[1]);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each<[what: string, envelope: Envelope]>([
    ['nothing at all', { payload: EVENT.data }],
    ['headers of other names', withHeaders({ 'x-request-id': '1', deliveryTag: '2' })],
    ['an id that is no text', withHeaders({ 'webhook-id': 1, 'Nats-Msg-Id': ['a', 'b'] })],
    ['a field without a value', { payload: {}, messageId: undefined as never }],
  ])('is missing where there is %s', (_, envelope) => {
    expect(() => messageIdOf(envelope)).toThrow(expect.objectContaining({ code: 'idempotency-key-missing' }));
  });

  it.each<[reason: string, envelope: Envelope]>([
    ['empty', withHeaders({ 'webhook-id': '' })],
    ['empty', { payload: {}, messageId: '  ' }],
    ['empty', withHeaders({ 'ce-source': '/orders', 'ce-id': '' })],
    ['empty', withHeaders({ 'ce-source': ' ', 'ce-id': '7' })],
    ['empty', { payload: { ...EVENT, id: '' } }],
    ['too_long', { payload: {}, messageId: LONG }],
    ['charset', withHeaders({ 'Nats-Msg-Id': 'é' })],
    ['charset', withHeaders({ 'webhook-id': bytes('\xff') })],
    ['syntax', { payload: {}, messageId: 7 as never }],
  ])('is refused as %s where it cannot be a key', (reason, envelope) => {
    expect(() => messageIdOf(envelope)).toThrow(expect.objectContaining({ code: 'idempotency-key-invalid', reason }));
  });
});

describe('the id of a content', () => {
  it('is its hash, the same for text and for its bytes', () => {
    const hash = 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824';
    expect([contentId('hello'), contentId(bytes('hello'))]).toEqual([hash, hash]);
  });

  it('is another one for every other content, and can be a key', () => {
    expect(contentId('hello ')).not.toBe(contentId('hello'));
    expect(messageIdOf({ payload: {}, messageId: contentId('') })).toBe(contentId(''));
  });
});
