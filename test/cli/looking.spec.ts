import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';

import { operationHash } from '../../libs/idempotency/src/core/operation-hash.js';
import { PostgresRepair } from '../../libs/idempotency/src/storage/postgres-repair.js';
import { Callee } from '../steps/plays.js';
import { Cli, environmentOf } from './cli.js';
import { passwordOf, Scene, SECRETS } from './scene.js';

jest.setTimeout(60_000);

/** A record of each kind, by its endpoint and key; the tenant of an application with one key space has no name. */
const RECORDS = [
  ['completed', 'receipts', 'completed'],
  ['completed', 'refused', 'refused'],
  ['completed', 'long', 'omitted'],
  ['completed', 'encrypted', 'encrypted'],
  ['in_progress', 'POST /work', 'live'],
  ['abandoned', 'POST /work', 'stalled'],
  ['abandoned', 'plays', 'failed-after-step'],
  ['unknown', 'plays', 'unknown'],
  ['expired', 'receipts', 'expired'],
  ['expired', 'remembered', 'remembered'],
] as const;

let scene: Scene;

beforeAll(async () => {
  scene = await Scene.open();
  for (const [, endpoint, key] of RECORDS) {
    if (!['POST /work', 'plays'].includes(endpoint)) await scene.post(endpoint, key);
  }
  await scene.paying('live');
  await scene.stalled('stalled');
  await scene.failedAfterStep('failed-after-step');
  await scene.unknown('unknown', new Callee(500));
  await scene.unknown('unknown', new Callee(500));
  await scene.age('expired', '25h');
  await scene.age('remembered', '25h');
});

afterAll(() => scene?.close());

interface Listed {
  readonly records: { readonly key: string; readonly state: string; readonly hash: string }[];
  readonly hasMore: boolean;
}

const listed = async (...args: string[]): Promise<Listed> => {
  const { code, stdout, stderr } = await scene.cli.run('list', '--json', ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Listed;
};
const keysOf = ({ records }: Listed): string[] => records.map(({ key }) => key);
const keysIn = (...states: string[]): string[] =>
  RECORDS.filter(([state]) => states.includes(state)).map(([, , key]) => key);

const shown = (key: string, ...args: string[]) => {
  const [, endpoint] = RECORDS.find((record) => record[2] === key)!;
  return scene.cli.run('show', '', endpoint, key, ...args);
};

describe('list', () => {
  it('says of every record what it is', async () => {
    const { records, hasMore } = await listed();
    expect(hasMore).toBe(false);
    expect(records.map(({ state, key }) => [state, key]).sort()).toEqual(RECORDS.map(([s, , key]) => [s, key]).sort());
  });

  it('lists those in one state, of which abandoned takes in unknown', async () => {
    const states = ['in_progress', 'abandoned', 'unknown', 'completed', 'expired'];
    const lists = await Promise.all(states.map((state) => listed('--state', state)));
    expect(lists.map((list) => keysOf(list).sort())).toEqual(
      [['in_progress'], ['abandoned', 'unknown'], ['unknown'], ['completed'], ['expired']].map((those) =>
        keysIn(...those).sort(),
      ),
    );
  });

  it('narrows by tenant, endpoint and age, and begins at either end', async () => {
    const [plays, nobodys, older, oldest] = await Promise.all([
      listed('--tenant', '', '--endpoint', 'plays', '--state', 'abandoned', '--order', 'oldest'),
      listed('--tenant', 'acme'),
      listed('--state', 'abandoned', '--older-than', '10m'),
      listed('--order', 'oldest', '--limit', '1'),
    ]);
    expect(keysOf(plays)).toEqual(['failed-after-step', 'unknown']);
    expect(keysOf(nobodys)).toEqual([]);
    expect(keysOf(older)).toEqual(['stalled']);
    expect(oldest).toMatchObject({ records: [{ key: 'expired' }], hasMore: true });
  });

  it('is a table for people, and says when there are more', async () => {
    const { stdout } = await scene.cli.run('list', '--state', 'abandoned', '--limit', '2', '--order', 'oldest');
    const [titles, first, second, , more] = stdout.split('\n');
    expect(titles).toMatch(/^STATE +FOR +ATTEMPTS +TOKEN +TENANT +ENDPOINT +KEY$/);
    expect(first).toMatch(/^abandoned +5\dm +1 +[0-9a-f]{8} +'' +POST \/work +stalled$/);
    expect(second).toMatch(/^abandoned +\d+(ms|s|m) +1 +- +'' +plays +failed-after-step$/);
    expect(more).toBe('There are more than these 2. --limit shows more of them.');
  });

  it('shows hashes in place of keys, and finds the record that one names', async () => {
    const { code, stdout } = await scene.cli.run('list', '--hash-keys', '--state', 'unknown');
    expect(code).toBe(0);
    const [, hash] = /ENDPOINT +HASH\nunknown .* plays +([0-9a-f]{16})\n$/.exec(stdout)!;
    expect(hash).toBe(operationHash({ tenant: '', endpoint: 'plays', key: 'unknown' }));
    const { records } = await listed('--hash', hash!, '--hash-keys');
    expect(records).toMatchObject([{ endpoint: 'plays', hash, state: 'unknown' }]);
    expect(records[0]).not.toHaveProperty('key');
  });

  it('finds a record by the hash of whatever names it', async () => {
    const repair = new PostgresRepair(scene.stage.app.dataSource, 10_000);
    const text = fc.string({ unit: 'binary', maxLength: 30 }).filter((some) => !some.includes('\0'));
    await fc.assert(
      fc.asyncProperty(text, text, text, async (tenant, endpoint, key) => {
        const operation = { tenant, endpoint, key };
        await scene.stage.app.witness.rows(
          `INSERT INTO idempotency_records (tenant, endpoint, key, state, fingerprint, created_at, expires_at)
           VALUES ($1, $2, $3, 'completed', '', now(), now())`,
          ...[tenant, endpoint, key],
        );
        const found = await repair.list({ hash: operationHash(operation), order: 'newest', limit: 2 });
        await scene.stage.app.witness.rows('DELETE FROM idempotency_records WHERE fingerprint = $1', Buffer.of());
        expect(found).toMatchObject([operation]);
      }),
    );
  });
});

describe('show', () => {
  it('tells all that is known of a record, and neither its body nor results', async () => {
    const documents = new Map<string, Record<string, unknown>>();
    const showing = RECORDS.map(async ([, , key]) => documents.set(key, (await shown(key, '--json')).json()));
    await Promise.all(showing);
    const token = expect.stringMatching(/^[0-9a-f]{8}$/);
    const none = { leaseLeftSeconds: null, hasSteps: false, steps: [] };
    const done = { ...none, attempts: 1, token, lockedUntil: null, completedAt: expect.any(String) };
    const headers = expect.arrayContaining([['Content-Type', 'application/json; charset=utf-8']]);
    expect(documents.get('completed')).toMatchObject({
      ...done,
      tenant: '',
      endpoint: 'receipts',
      key: 'completed',
      state: 'completed',
      response: { status: 201, headers, bodyBytes: 20, omitted: null, encryptedUnder: null, resource: null },
    });
    expect(documents.get('refused')).toMatchObject({ ...done, response: { status: 422 } });
    expect(documents.get('omitted')).toMatchObject({ ...done, response: { omitted: 'too_large', bodyBytes: null } });
    expect(documents.get('encrypted')).toMatchObject({ ...done, response: { encryptedUnder: 'first', bodyBytes: 48 } });
    expect(documents.get('live')).toMatchObject({ state: 'in_progress', token, attempts: 1, response: null });
    expect(documents.get('live')!.leaseLeftSeconds).toBeGreaterThan(0);
    expect(documents.get('stalled')).toMatchObject({ state: 'abandoned', token, response: null, steps: [] });
    expect(documents.get('stalled')!.leaseLeftSeconds).toBeLessThan(0);
    const providerKey = expect.stringMatching(/^[0-9a-f]{64}$/);
    const providerUuid = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(documents.get('failed-after-step')).toMatchObject({
      state: 'abandoned',
      token: null,
      hasSteps: true,
      steps: [{ name: 'charge', tries: 1, outcome: 'succeeded', providerKey, providerUuid }],
    });
    expect(documents.get('unknown')).toMatchObject({
      state: 'unknown',
      attempts: 2,
      steps: [
        { name: 'authorize', tries: 1, outcome: 'succeeded', finishedAt: expect.any(String) },
        { name: 'charge', tries: 2, outcome: 'unknown', finishedAt: null },
      ],
    });
    expect(documents.get('expired')).toMatchObject({ ...done, state: 'expired', replaysUntil: null });
    expect(documents.get('remembered')).toMatchObject({ ...done, state: 'expired', replaysUntil: expect.any(String) });
  });

  it('reads the dates of a database that writes them in another style', async () => {
    const [iso, german] = await Promise.all(
      ['ISO', 'German'].map((style) => {
        const cli = new Cli(environmentOf(scene.stage.url, { PGOPTIONS: `-c datestyle=${style}` }));
        return cli.run('show', '', 'remembered', 'remembered', '--json');
      }),
    );
    const { ageSeconds: _, ...dates } = iso!.json();
    expect(dates).toMatchObject({ createdAt: expect.any(String), replaysUntil: expect.any(String) });
    expect(german!.json()).toMatchObject(dates);
  });

  it('takes a key that looks like an option', async () => {
    await scene.post('receipts', '--json');
    const { code, stdout } = await scene.cli.run('show', '', 'receipts', '--', '--json');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^key +--json$/m)]);
  });

  it('tells people what it means', async () => {
    const [omitted, sealed, unknown, remembered] = await Promise.all(
      ['omitted', 'encrypted', 'unknown', 'remembered'].map(async (key) => (await shown(key)).stdout),
    );
    expect(omitted).toMatch(/^state +completed, for \d+(ms|s|m): its answer is recorded; every retry gets it$/m);
    expect(omitted).toMatch(/^status +201\nheader +Content-Type: application\/json; charset=utf-8$/m);
    expect(omitted).toMatch(/^body +left out \(too_large\); a retry is told that there was one$/m);
    expect(sealed).toMatch(/^body +48 bytes, encrypted under the key 'first'$/m);
    expect(unknown).toMatch(/^state +unknown, .*nobody knows whether an outside call of it has happened/m);
    expect(unknown).toMatch(/^step charge: unknown, announced 2 times, last at \S+Z\n +provider key +[0-9a-f]{64}$/m);
    expect(remembered).toMatch(/^state +expired, .*its key is remembered as used/m);
  });

  it('has shown no secret so far: no body, no result, no whole token, no password', () => {
    const { written } = scene.cli;
    expect(written).toContain('failed-after-step');
    expect(Object.values(SECRETS).filter((secret) => written.includes(secret))).toEqual([]);
    expect(written).not.toMatch(/"token": "[0-9a-f]{8}-/);
    expect(written).not.toContain(passwordOf(scene.stage.url));
  });

  it('shows the body and the results to whoever asks for them', async () => {
    const [body, document, sealed, results] = await Promise.all([
      shown('completed', '--body'),
      shown('completed', '--body', '--json'),
      shown('encrypted', '--body', '--json'),
      shown('unknown', '--results', '--json'),
    ]);
    expect(body.stdout.trimEnd().split('\n').at(-1)).toBe(`{"card":"${SECRETS.body}"}`);
    expect(document.json()).toMatchObject({
      response: { body: { encoding: 'utf8', text: `{"card":"${SECRETS.body}"}` } },
    });
    expect(sealed.json<{ response: object }>().response).not.toHaveProperty('body');
    expect(results.json()).toMatchObject({ steps: [{ result: { id: SECRETS.result } }, { result: null }] });
  });

  it('finds nothing where there is nothing, and says how to look', async () => {
    const people = await scene.cli.run('show', '', 'receipts', 'no such key');
    expect(people).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^There is no such record\./) });
    const machines = await scene.cli.run('show', '', 'receipts', 'no such key', '--json');
    expect(machines.code).toBe(1);
    expect(machines.json()).toEqual({ refused: 'not_found' });
  });
});
