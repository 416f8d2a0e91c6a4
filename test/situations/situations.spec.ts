import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { exchangesIn, readPage, withExchanges, writePage } from './page.js';
import { PLATFORMS } from './payments/app.js';
import { prepareDatabase } from './payments/database.js';
import { SITUATIONS } from './situations.js';
import { prepareStage } from './stage.js';
import { onEitherPlatform } from './transcript.js';
import { Witness } from './witness.js';

jest.setTimeout(60_000);

/** Writes what is exchanged into the pages, in place of comparing it with them. */
const IS_UPDATE = Boolean(process.env.UPDATE_SITUATIONS);

let database: TestDatabase;
let witness: Witness;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
});

describe.each(PLATFORMS)('on %s', (platform) => {
  const situations = SITUATIONS.filter(({ killsProcess }) => platform === 'express' || !killsProcess);

  it.each(situations)('$page: $promise', async ({ page, ends, play }) => {
    await witness.reset();
    const { stage, exchanges, strike } = prepareStage({ platform, url: database.url, witness });
    try {
      await play(stage);
      expect(await witness.ending()).toEqual(ends);
      expect(await witness.accountsOutOfBalance()).toEqual([]);
    } finally {
      await strike();
    }
    const text = readPage(page);
    if (platform === 'express') {
      if (IS_UPDATE) writePage(page, withExchanges(text, exchanges));
      expect(Object.fromEntries(exchangesIn(readPage(page)))).toEqual(Object.fromEntries(exchanges));
    } else {
      const alike = (shown: ReadonlyMap<string, string>) =>
        Object.fromEntries([...shown].map(([name, exchange]) => [name, onEitherPlatform(exchange)]));
      expect(alike(exchanges)).toEqual(alike(exchangesIn(text)));
    }
  });
});
