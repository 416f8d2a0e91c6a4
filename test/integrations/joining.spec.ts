import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { Witness } from '../module/witness.js';
import { prepareDatabase } from '../module/work-app.js';
import { type JoiningProcess, type MeansName, startJoiningProcess } from './joining-process.js';
import type { WorkName } from './works.js';

jest.setTimeout(60_000);

const MEANS: [MeansName, { readonly hasNested: boolean; readonly canWatch: boolean }][] = [
  ['@nestjs-cls/transactional', { hasNested: true, canWatch: false }],
  ['typeorm-transactional', { hasNested: false, canWatch: true }],
];

describe.each(MEANS)('transactions by %s', (means, { hasNested, canWatch }) => {
  let database: TestDatabase;
  let witness: Witness;
  let app: JoiningProcess;
  let key: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    witness = await Witness.of(database.url);
    app = await startJoiningProcess(database.url, means);
  });

  afterAll(async () => {
    app?.kill();
    await witness?.close();
    await database?.drop();
  });

  beforeEach(() => {
    key = randomUUID();
  });

  interface Said {
    readonly status: number;
    readonly isReplay: boolean;
    readonly body: unknown;
  }

  async function post(path: `${string}/${WorkName}` | 'charges'): Promise<Said> {
    const response = await fetch(`http://localhost:${app.port}/${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(!path.startsWith('optional') && { 'Idempotency-Key': key }),
      },
      body: JSON.stringify({ run: key }),
    });
    const text = await response.text();
    const body: unknown = text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text;
    return { status: response.status, isReplay: response.headers.has('Idempotent-Replayed'), body };
  }

  async function warnings(about: string): Promise<string[]> {
    const response = await fetch(`http://localhost:${app.port}/warnings`);
    return ((await response.json()) as string[]).filter((line) => line.includes(about));
  }

  const payments = () => witness.payments(key);
  const strays = () => warnings('outside its idempotent transaction');
  const broken = { status: 500, body: expect.objectContaining({ code: 'idempotency-work-broken' }) };

  describe.each(['lease', 'transaction'])('inside the work of a %s', (claim) => {
    it('are the transaction of the operation, and no stray writes', async () => {
      const told = (await strays()).length;
      const first = await post(`${claim}/pays`);
      const [ours, theirs] = first.body as string[];
      expect([first.status, theirs]).toEqual([201, ours]);
      expect(await payments()).toEqual(['joined', 'mandatory', 'plain', 'shared']);
      expect(await post(`${claim}/pays`)).toEqual({ ...first, isReplay: true });
      expect((await strays()).slice(told)).toEqual([]);
    });

    it('are undone with it', async () => {
      expect((await post(`${claim}/fails`)).status).toBe(500);
      expect(await payments()).toEqual([]);
    });

    it('cannot be committed by a service of its own', async () => {
      expect(await post(`${claim}/commits`)).toMatchObject(broken);
      expect(await payments()).toEqual([]);
    });

    it('take nothing in that comes when the work is over: all of it is undone', async () => {
      expect(await post(`${claim}/comesLate`)).toMatchObject(broken);
      expect(await warnings('Too late')).toContainEqual(expect.stringContaining('after the work was over'));
      expect(await payments()).toEqual([]);
    });
  });

  it('are undone where the claim is lost', async () => {
    expect((await post('lease/losesItsClaim')).status).toBe(409);
    expect(await payments()).toEqual([]);
  });

  it('are those of the run that commits, where an earlier one had to give way', async () => {
    expect((await post('patient/givesWay')).status).toBe(201);
    if (canWatch) {
      await eventually('both runs are told how they ended', async () => (await payments()).length === 3);
      expect(await payments()).toEqual([
        expect.stringMatching(/^run 1: rolled back/),
        'run 2',
        expect.stringMatching(/^run 2: committed/),
      ]);
    } else expect(await payments()).toEqual(['run 2']);
  });

  it('that are to be apart stay when the operation is undone, and the log says so', async () => {
    expect((await post('lease/paysApart')).status).toBe(500);
    expect(await payments()).toEqual(['apart']);
    expect(await strays()).toEqual([expect.stringContaining('INSERT INTO "payments"')]);
  });

  (hasNested ? it : it.skip)('that are nested can fail on their own', async () => {
    expect((await post('lease/nests')).status).toBe(201);
    expect(await payments()).toEqual(['after', 'joined', 'nested']);
  });

  it('join the commit of an operation that makes steps, and nothing before it', async () => {
    expect((await post('charges')).status).toBe(500);
    expect(await payments()).toEqual([]);
    const { status, body } = await post('charges');
    const [before, ours, theirs] = body as string[];
    expect([status, before, theirs]).toEqual([201, 'nothing to join before the commit', ours]);
    expect(await payments()).toEqual(['charged']);
  });

  it.each(['jobs', 'messages', 'optional'])('join what has no recording of an answer, too: %s', async (kind) => {
    await post(`${kind}/fails`);
    expect(await payments()).toEqual([]);
    expect((await post(`${kind}/pays`)).status).toBe(201);
    expect(await payments()).toEqual(['joined', 'mandatory', 'plain', 'shared']);
  });

  it.each(['lease', 'by-hand'])('are their own again in what is called back after the commit: %s', async (route) => {
    expect((await post(`${route}/paysAfterCommit`)).status).toBe(201);
    await eventually('it has paid after the commit', async () => (await payments()).length === 2);
    expect(await payments()).toEqual(['after', 'joined']);
  });

  (canWatch ? describe : describe.skip)('tell their ends', () => {
    it('when they are committed, and once', async () => {
      expect((await post('lease/watches')).status).toBe(201);
      await eventually('it is told', async () => (await payments()).length === 2);
      expect((await post('lease/watches')).isReplay).toBe(true);
      expect(await payments()).toEqual(['joined', 'watched: committed, seeing 1']);
    });

    it('when they are rolled back', async () => {
      expect((await post('lease/watchesAndFails')).status).toBe(500);
      await eventually('it is told', async () => (await payments()).length === 1);
      expect(await payments()).toEqual(['watched: rolled back, seeing 0']);
    });
  });
});
