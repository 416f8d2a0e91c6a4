import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Witness } from '../module/witness.js';
import { prepareDatabase } from '../module/work-app.js';
import { codeIn, index, pages } from './written.js';

jest.setTimeout(60_000);

const statements = [...pages, index].flatMap((page) => codeIn(page, 'sql').map((sql) => ({ page, sql })));

describe('the statements of the pages', () => {
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

  it('are found', () => {
    expect(statements.length).toBeGreaterThan(2);
  });

  it.each(statements)('of $page run', async ({ sql }) => {
    await witness.rows(sql);
  });
});
