import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';

import type { RecordedHeader } from '../core/recording.js';
import { answerWith } from './returned-value.js';

const RULES = {
  textType: 'text/plain; charset=utf-8',
  toJson: (value: object) => JSON.stringify(value),
  status: 201,
  headers: [],
  limitBytes: 100,
};

const JSON_LINE: RecordedHeader = ['Content-Type', 'application/json; charset=utf-8'];
const TEXT_LINE: RecordedHeader = ['Content-Type', 'text/plain; charset=utf-8'];

describe('answerWith', () => {
  it.each<[what: string, value: unknown, headers: RecordedHeader[], body: string]>([
    ['an object', { id: 1 }, [JSON_LINE], '{"id":1}'],
    ['a list', [1, 'two'], [JSON_LINE], '[1,"two"]'],
    ['what says itself how it is written', { toJSON: () => ({ id: 2 }) }, [JSON_LINE], '{"id":2}'],
    ['text', 'done', [TEXT_LINE], 'done'],
    ['nothing', undefined, [], ''],
    ['null', null, [], ''],
  ])('is the whole answer for %s', (_, value, headers, body) => {
    expect(answerWith(value, RULES)).toEqual({ kind: 'whole', status: 201, headers, body: Buffer.from(body) });
  });

  it('keeps the headers that the answer would have had, its own type among them', () => {
    const headers: RecordedHeader[] = [
      ['content-type', 'application/vnd.payment+json'],
      ['Location', '/payments/1'],
    ];
    expect(answerWith({ id: 1 }, { ...RULES, headers })).toMatchObject({ kind: 'whole', headers });
  });

  it('leaves out a body beyond the limit', () => {
    expect(answerWith('x'.repeat(101), RULES)).toEqual({ kind: 'oversized', status: 201, headers: [TEXT_LINE] });
  });

  it('writes objects as the application does', () => {
    const toJson = () => '{"id":1}';
    expect(answerWith({ id: 1, card: '4111' }, { ...RULES, toJson })).toMatchObject({ body: Buffer.from('{"id":1}') });
  });

  it.each<[what: string, value: unknown]>([
    ['a stream', Readable.from(['x'])],
    ['bytes', Buffer.from('x')],
    ['a file of Nest', { getStream: () => Readable.from(['x']) }],
    ['a number', 1],
    ['a function', () => 1],
    ['what refers to itself', circular()],
    ['what cannot be written', { amount: 1n }],
    ['what is written as nothing', { toJSON: () => undefined }],
  ])('is not known for %s', (_, value) => {
    expect(answerWith(value, RULES)).toEqual({ kind: 'unseen' });
  });
});

function circular(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}
