import { randomUUID } from 'node:crypto';

import { Controller, Post } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FingerprintOptions, Idempotent } from 'nestjs-idempotency';

import { useDatabase } from '../wire/database.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { type FingerprintApp, startFingerprintApp } from './fingerprint-app.js';
import type { Message } from './message.js';
import { OptionsController, UNUSABLE } from './options.controller.js';

const database = useDatabase();

const JSON_LINE = ['Content-Type', 'application/json'] as const;

const asking = (route: string, body: string | Buffer, headers: Message['headers'] = [], target = '1'): Message => ({
  target: `/options/${target.replace(/\??$|\?/, `/${route}$&`)}`,
  headers: headers.some(([name]) => name === 'Content-Type') ? headers : [JSON_LINE, ...headers],
  body,
});

const versions = (...values: string[]) =>
  asking(
    'headers',
    '{"a":1}',
    values.map((value) => ['x-version', value] as const),
  );
const pick = (body: string) => asking('pick', body);
const omit = (body: string) => asking('omit', body);
const raw = (body: string | Buffer) => asking('raw', body);
const bytes = (body: Buffer) => asking('raw', body, [['Content-Type', 'application/octet-stream']]);

const PICKED = '{"amount":1,"to":{"account":"a"},"items":[1,2],"at":"1"}';

type Row = readonly [what: string, one: Message, same: Message, other: Message];

const ROWS: readonly Row[] = [
  ['the value of a header', versions('1'), versions('1'), versions('2')],
  ['the presence of a header', versions(), versions(), versions('')],
  ['the lines of a header', versions('1', '2'), versions('1', '2'), versions('2', '1')],
  ['each line of a header', versions('1', '2'), versions('1', '2'), versions('1, 2')],
  [
    'the body, beside a header',
    versions('1'),
    asking('headers', '{ "a": 1 }', [['X-VERSION', '1']]),
    asking('headers', '{"a":2}', [['X-Version', '1']]),
  ],
  [
    'picked parts of the body only',
    pick(PICKED),
    pick('{"at":"2","items":[1,3],"to":{"account":"a","x":1},"amount":1.0}'),
    pick(PICKED.replace('"amount":1', '"amount":2')),
  ],
  ['a picked part far inside', pick(PICKED), pick(PICKED), pick(PICKED.replace('"account":"a"', '"account":"b"'))],
  ['a picked element', pick(PICKED), pick(PICKED), pick(PICKED.replace('[1,2]', '[2,1]'))],
  ['the absence of a picked part, which is not null', pick('{"at":1}'), pick('{"at":2}'), pick('{"amount":null}')],
  ['the query, where parts are picked', pick(PICKED), pick(PICKED), asking('pick', PICKED, [], '1?a=1')],
  ['the whole of a body without parts', pick('"text"'), pick(' "text"'), pick('"other"')],
  [
    'what is not left out',
    omit('{"amount":1,"requestedAt":1,"to":{"a":1}}'),
    omit('{"amount":1,"to":{"a":1,"traceId":2}}'),
    omit('{"amount":2,"requestedAt":1,"to":{"a":1}}'),
  ],
  ['raw bytes', raw('{"a":1}'), raw('{"a":1}'), raw('{"a": 1}')],
  ['raw bytes that a parser left as they are', bytes(Buffer.of(254)), bytes(Buffer.of(254)), bytes(Buffer.of(255))],
  [
    "the module's options, where an endpoint has none",
    asking('module', '{"a":1,"at":1}'),
    asking('module', '{"a":1,"at":2}'),
    asking('module', '{"a":2,"at":1}'),
  ],
  [
    "the endpoint's options in place of the module's",
    asking('own', '{"a":1,"at":1}'),
    asking('own', '{"a":1,"at":1}'),
    asking('own', '{"a":1,"at":2}'),
  ],
  [
    'what a function returns',
    asking('function', '{"amount":1,"at":1}'),
    asking('function', '{"amount":1.0,"at":2}', [], '1?a=1'),
    asking('function', '{"amount":2,"at":1}'),
  ],
  [
    'every member of what a function returns',
    asking('function', '{"amount":1}'),
    asking('function', '{"amount":1}'),
    asking('function', '{"amount":1,"note":null}'),
  ],
  [
    'path parameters beside a function',
    asking('function', '{"amount":1}'),
    asking('function', '{"amount":1}'),
    asking('function', '{"amount":1}', [], '2'),
  ],
  [
    'the media type only where a function takes it up',
    asking('function', '{"amount":1}'),
    asking('function', '{"amount":1,"at":2}', [['Content-Type', 'application/merge-patch+json']]),
    asking('function', '{"amount":2}'),
  ],
  [
    'bytes that a function promises',
    asking('async', '{"amount":1,"at":1}'),
    asking('async', '{"amount":"1"}'),
    asking('async', '{"amount":2,"at":1}'),
  ],
];

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    app = await startFingerprintApp({
      platform,
      url: database.url,
      controllers: [OptionsController],
      idempotency: { fingerprint: { omit: ['/at'] } },
      rawBody: true,
    });
  });

  afterAll(() => app.close());

  it.each(ROWS)('compares %s', async (_, one, same, other) => {
    const key = randomUUID();
    const first = await app.send(one, key);
    expect(first.given).toBeDefined();
    const retry = await app.send(same, key);
    expect(retry.isReplay).toBe(true);
    expect(retry.response.payload).toEqual(first.response.payload);
    const mismatch = await app.send(other, key);
    expect(mismatch.response.json()).toMatchObject({ status: 422, code: 'idempotency-key-reused' });
    expect(mismatch.given).toBeUndefined();
    expect(await database.witness.rowsOf(key)).toBe(1);
    expect((await app.send(other, randomUUID())).given).toBeDefined();
  });

  it.each(Object.keys(UNUSABLE))('runs nothing when a function cannot say what was asked: %s', async (note) => {
    const key = randomUUID();
    const { response, given } = await app.send(asking('unusable', JSON.stringify({ note })), key);
    expect(response.json()).toMatchObject({ status: 500, code: 'idempotency-fingerprint-failed', retryable: false });
    expect(response.json().detail).toContain('`fingerprint`');
    expect(response.body().toString()).not.toContain('away');
    expect(given).toBeUndefined();
    expect(await database.witness.rowsOf(key)).toBe(0);
    expect(await database.witness.recordOf(key)).toBeNull();
  });

  it('answers with the exception that a function throws', async () => {
    const key = randomUUID();
    const { response, given } = await app.send(asking('forbidden', '{}'), key);
    expect(response.json()).toMatchObject({ statusCode: 403, message: 'Not with this account.' });
    expect(given).toBeUndefined();
    expect(await database.witness.recordOf(key)).toBeNull();
  });
});

describe.each(PLATFORMS)('an application on %s that keeps no raw bodies', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    app = await startFingerprintApp({ platform, url: database.url, controllers: [OptionsController] });
  });

  afterAll(() => app.close());

  it('is told so where an endpoint compares them, and runs nothing', async () => {
    const key = randomUUID();
    const { response, given } = await app.send(raw('{"a":1}'), key);
    expect(response.json()).toMatchObject({ status: 500, code: 'idempotency-fingerprint-failed', retryable: false });
    expect(response.json().detail).toContain('`rawBody: true`');
    expect(given).toBeUndefined();
    expect(await database.witness.recordOf(key)).toBeNull();
  });
});

describe('options that cannot be right', () => {
  function controllerWith(fingerprint: FingerprintOptions) {
    @Controller('mistaken')
    class MistakenController {
      @Post()
      @Idempotent({ fingerprint })
      post(): string {
        return 'never';
      }
    }
    return MistakenController;
  }

  const WRONG: readonly [options: FingerprintOptions, option: string][] = [
    [{ pick: ['/a'], omit: ['/b'] }, '`fingerprint` has both `pick` and `omit`'],
    [{ omit: ['requestedAt'] }, '`fingerprint.omit` holds "requestedAt"'],
    [{ headers: ['X Version'] }, '`fingerprint.headers` holds "X Version"'],
    [{ body: 'text' as 'raw' }, '`fingerprint.body`'],
  ];

  it.each(WRONG)('keep the application from starting, and the route is named: %j', async (fingerprint, option) => {
    const controllers = [controllerWith(fingerprint)];
    const starting = startFingerprintApp({ platform: 'express', url: database.url, controllers });
    await expect(starting).rejects.toThrow(new RegExp(`MistakenController\\.post .*${option.replaceAll('.', '\\.')}`));
  });

  it.each(WRONG)('keep the application from starting where the module has them: %j', async (fingerprint, option) => {
    const starting = startFingerprintApp({ platform: 'express', url: database.url, idempotency: { fingerprint } });
    await expect(starting).rejects.toThrow(option);
  });
});
