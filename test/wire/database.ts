import { afterAll, beforeAll, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Witness } from './ledger.js';
import { prepareDatabase } from './wire-app.js';

/** A busy machine takes its time to create and to drop a database. */
const PATIENCE_MS = 60_000;

export interface Database {
  readonly url: string;
  readonly witness: Witness;
}

/** Gives the spec file a database with all tables, and someone who looks at them; both are there once tests run. */
export function useDatabase(): Database {
  let database: TestDatabase;
  let witness: Witness;
  jest.setTimeout(PATIENCE_MS);

  beforeAll(async () => {
    database = await createTestDatabase();
    await prepareDatabase(database.url);
    witness = await Witness.of(database.url);
  });

  afterAll(async () => {
    await witness.close();
    await database.drop();
  });

  return {
    get url() {
      return database.url;
    },
    get witness() {
      return witness;
    },
  };
}
