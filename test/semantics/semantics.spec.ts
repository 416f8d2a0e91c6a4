import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Logbook } from '../module/listening.js';
import { Witness } from '../wire/ledger.js';
import { type App, PLATFORMS, prepareDatabase, startApp } from './app.js';
import { conflicts } from './conflicts.js';
import { errors } from './errors.js';
import { fingerprint } from './fingerprint.js';
import { key } from './key.js';
import { scope } from './scope.js';
import { outcomes } from './outcomes.js';
import { recordings } from './recordings.js';
import { rowsOf, sectionsWithRows } from './rows.js';
import type { Situation } from './situation.js';
import { state } from './state.js';
import { stageFor } from './stage.js';
import { strangers } from './strangers.js';
import { time } from './time.js';
import { transactions } from './transactions.js';
import { waiting } from './waiting.js';

jest.setTimeout(60_000);

const SECTIONS: readonly (readonly [section: string, situations: readonly Situation[]])[] = [
  ['Key', key],
  ['Scope', scope],
  ['Fingerprint', fingerprint],
  ['State', [...state, ...waiting, ...transactions]],
  ['What is recorded', [...outcomes, ...strangers, ...conflicts, ...recordings]],
  ['Error answers', errors],
  ['Time', time],
];

let database: TestDatabase;
let witness: Witness;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
});

describe('the page of semantics', () => {
  it('has no section without tests', () => {
    expect(sectionsWithRows()).toEqual(SECTIONS.map(([section]) => section));
  });

  it.each(SECTIONS)('has a test for each row, and a row for each test: %s', (section, situations) => {
    expect(situations.map(({ when }) => when)).toEqual(rowsOf(section));
  });
});

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: App;

  beforeAll(async () => {
    app = await startApp({ platform, url: database.url, logbook });
  });

  afterAll(() => app?.close());

  describe.each(SECTIONS)('%s:', (_, situations) => {
    it.each(situations)('$when', async ({ ends, play }) => {
      const run = randomUUID();
      const { stage, ending, strike } = stageFor({ platform, url: database.url, logbook, app, witness, run });
      try {
        await play(stage);
        expect(await ending()).toEqual(ends);
      } finally {
        await strike();
      }
    });
  });
});
