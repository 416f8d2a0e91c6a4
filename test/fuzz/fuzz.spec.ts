import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Logbook } from '../module/listening.js';
import { eventually } from '../wire/gate.js';
import { type Request, send } from '../wire/socket.js';
import { exchange } from './exchange.js';
import { garbage } from './garbage.js';
import { expectReplay, isReplay, kindOf, type Sent, wasTold } from './judge.js';
import { type Message, shown } from './message.js';
import { type OpenApp, PLATFORMS, prepareDatabase, startOpenApp } from './open-app.js';

const RUNS = Number(process.env.FUZZ_RUNS ?? 60);
/** FUZZ_SEED repeats the messages of an earlier run, FUZZ_PATH those of the batch that failed in it. */
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31));
const PATH = process.env.FUZZ_PATH;
const MESSAGES_AT_ONCE = 12;
/** The least there can be, so that some answers pass it. */
const RECORDING_LIMIT_BYTES = 64 * 1024;

jest.setTimeout(60_000);

let database: TestDatabase;
let witness: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = new Client(database.url);
  await witness.connect();
});

afterAll(async () => {
  await witness?.end();
  await database?.drop();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: OpenApp;
  let bare: OpenApp;
  const logbook = new Logbook();
  const tally = new Map<string, number>();
  /** What the application answers with a server error by itself, with the library or without. */
  const ownFaults = new Set<string>();

  beforeAll(async () => {
    app = await startOpenApp({ platform, url: database.url, logbook, recordingLimitBytes: RECORDING_LIMIT_BYTES });
    bare = await startOpenApp({ platform, url: database.url, logbook });
    // What is said at the start is not the clients' doing.
    logbook.lines.length = 0;
  });

  afterAll(async () => {
    await app?.close();
    await bare?.close();
  });

  it(`survives ${RUNS} batches of garbage, every message sent twice`, async () => {
    console.info(`FUZZ_SEED=${SEED}`);
    const messages = fc.array(garbage, { minLength: 1, maxLength: MESSAGES_AT_ONCE, size: 'max' });
    const property = fc.asyncProperty(messages, async (batch) => {
      await witness.query('TRUNCATE effects, idempotency_records');
      const sent = await Promise.all(
        batch.map(async (message) => [await fire(app, message), await fire(app, message)] as const),
      );
      for (const [first, second] of sent) await judge(first, second);
      await expectNoSecondEffect();
      await expectService();
      expectNoComplaint();
    });
    await fc.assert(property, { seed: SEED, numRuns: RUNS, ...(PATH !== undefined && { path: PATH }) });
    await eventually('the pool is at rest', () => app.connections() === 0);
    console.info(Object.fromEntries([...tally].sort()), [...ownFaults].sort());
  }, 900_000);

  async function fire({ port }: OpenApp, message: Message): Promise<Sent> {
    const mark = randomUUID();
    return {
      message,
      mark,
      answer: await exchange(port, message, mark, () => send(port, marked({ method: 'GET', path: '/any' }))),
    };
  }

  /** Both answers are in order, and what was done is what was told. */
  async function judge(first: Sent, second: Sent): Promise<void> {
    for (const sent of [first, second]) {
      const { message, mark, answer } = sent;
      const kind = kindOf(answer);
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      if (answer && answer.status >= 500) await expectOwnFault(sent);
      const effects = await effectsOf(mark);
      // Where nobody was told, it is done or it is not.
      const due = wasTold(sent) ? Number(sent.answer.status < 400 && !isReplay(sent.answer)) : Math.min(effects, 1);
      expect([shown(message), kind, effects]).toEqual([shown(message), kind, due]);
    }
    if (wasTold(first) && wasTold(second) && (await isOperation(first.mark))) {
      expectReplay(first, second, RECORDING_LIMIT_BYTES);
    }
  }

  /** The same application fails at it without the library as well. */
  async function expectOwnFault({ message, answer }: Sent): Promise<void> {
    const without = await fire(bare, message);
    const text = `${answer!.status} ${answer!.payload.toString()}`;
    expect([shown(message), text, without.answer?.status]).toEqual([shown(message), text, answer!.status]);
    ownFaults.add(`${answer!.status}: ${shown(message).slice(0, 300)}`);
  }

  /** Nothing was logged but what the framework logs of requests that it answers itself; server errors are judged above. */
  function expectNoComplaint(): void {
    expect(logbook.complaints().filter((line) => !line.includes('ExceptionsHandler'))).toEqual([]);
  }

  async function effectsOf(mark: string): Promise<number> {
    return (await witness.query('SELECT FROM effects WHERE mark = $1', [mark])).rowCount!;
  }

  /** What it did was done as an operation, and so is not to be done again. */
  async function isOperation(mark: string): Promise<boolean> {
    const { rowCount } = await witness.query('SELECT FROM effects WHERE mark = $1 AND operation IS NOT NULL', [mark]);
    return rowCount! > 0;
  }

  async function expectNoSecondEffect(): Promise<void> {
    const { rows } = await witness.query(
      'SELECT operation, count(*)::int FROM effects WHERE operation IS NOT NULL GROUP BY 1 HAVING count(*) > 1',
    );
    expect(rows).toEqual([]);
  }

  /** It still does its work. */
  async function expectService(): Promise<void> {
    const request = marked({ path: '/things', key: randomUUID(), body: { a: 1 } });
    const [first, replay] = [await send(app.port, request), await send(app.port, request)];
    expect([first.status, replay.status, isReplay(first), isReplay(replay)]).toEqual([201, 201, false, true]);
    expect(replay.payload.equals(first.payload)).toBe(true);
  }
});

/** A request as it should be. */
function marked(request: Request): Request {
  return { ...request, headers: { 'X-Mark': randomUUID() } };
}
