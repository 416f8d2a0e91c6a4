import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { expect } from '@jest/globals';
import { escapeIdentifier } from 'pg';
import { databaseUrl, onServer } from './server.js';
import { type Template, ensureTemplate } from './template.js';
import { watchForFailure } from './watch-for-failure.js';

export type TestDatabase = {
  readonly name: string;
  /** A connection URL for the suite and for the applications that it starts. */
  readonly url: string;
  /** Drops the database, also under open connections; keeps it and prints its name when a test of the file failed. */
  drop(): Promise<void>;
};

/**
 * Creates a database for one spec file, as a clone of `template` when there is one. Call it in `beforeAll`, and
 * `drop` in `afterAll`.
 */
export async function createTestDatabase({ template }: { readonly template?: Template } = {}): Promise<TestDatabase> {
  const failure = watchForFailure();
  const source = template && (await ensureTemplate(template));
  const name = nameAfterSpec();
  await onServer(async (client) => {
    const clause = source === undefined ? '' : ` TEMPLATE ${escapeIdentifier(source)}`;
    await client.query(`CREATE DATABASE ${escapeIdentifier(name)}${clause}`);
  });
  return {
    name,
    url: databaseUrl(name),
    drop: async () => {
      if (failure.hasHappened()) {
        console.warn(`A test failed: its database ${name} is kept.`);
        return;
      }
      await onServer((client) => client.query(`DROP DATABASE ${escapeIdentifier(name)} WITH (FORCE)`));
    },
  };
}

/** `test_<spec file>_<random>`, within PostgreSQL's 63 bytes. */
function nameAfterSpec(): string {
  const spec = basename(expect.getState().testPath ?? '', '.spec.ts').replace(/\W/g, '_');
  return `test_${spec.slice(0, 40)}_${randomBytes(4).toString('hex')}`;
}
