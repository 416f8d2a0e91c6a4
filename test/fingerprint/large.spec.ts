import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { useDatabase } from '../wire/database.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { type FingerprintApp, startFingerprintApp } from './fingerprint-app.js';
import type { Message } from './message.js';

const TEN_MEGABYTES = 10 * 1024 * 1024;

const database = useDatabase();

/** As much of `item` as makes an array of ten megabytes. */
const arrayOf = (item: string): string => `[${item}${`,${item}`.repeat(TEN_MEGABYTES / (item.length + 1))}]`;

const json = (body: string): Message => ({ target: '/given/1', headers: [['Content-Type', 'application/json']], body });

const bytes = (last: number): Message => {
  const body = Buffer.alloc(TEN_MEGABYTES, 7);
  body[TEN_MEGABYTES - 1] = last;
  return { target: '/given/1', headers: [['Content-Type', 'application/octet-stream']], body };
};

const RECORDS = arrayOf('{"id":1,"name":"Ada","tags":["a","b"],"at":null}');

describe.each(PLATFORMS)('ten megabytes on %s', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    app = await startFingerprintApp({ platform, url: database.url });
  });

  afterAll(() => app.close());

  it.each<[what: string, one: Message, same: Message, other: Message]>([
    [
      'records',
      json(RECORDS),
      json(RECORDS.replaceAll('"id":1,"name":"Ada"', '"name":"Ada","id":1')),
      json(RECORDS.replace(/null}]$/, '0}]')),
    ],
    ['bytes', bytes(1), bytes(1), bytes(2)],
  ])('of %s are compared in full', async (_, one, same, other) => {
    const key = randomUUID();
    const first = await app.send(one, key);
    expect(first.given).toBeDefined();
    expect((await app.send(same, key)).isReplay).toBe(true);
    expect((await app.send(other, key)).response.status).toBe(422);
    expect(await database.witness.rowsOf(key)).toBe(1);
  });
});
