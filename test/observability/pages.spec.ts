import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { Witness } from '../module/witness.js';
import { prepareDatabase } from '../module/work-app.js';
import { codeIn, index, pages, read } from './written.js';

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

const SOURCES = 'libs/idempotency/src';

const sources = readdirSync(join(import.meta.dirname, '../..', SOURCES), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => read(`${SOURCES}/${file}`))
  .join('\n');

/** Code of several words that is no command is what the library writes; an ellipsis stands for what varies. */
const phrases = [...pages, index].flatMap((page) =>
  [...read(page).matchAll(/`((?!npx )[A-Za-z]+(?: [A-Za-z…,;.]+){3,})`/g)].map(([, phrase]) => ({ page, phrase })),
);

describe('the words of the log that pages quote', () => {
  it('are found', () => {
    expect(phrases.length).toBeGreaterThan(4);
  });

  it.each(phrases)('in $page are those of the library: $phrase', ({ phrase }) => {
    for (const part of phrase!.split('…')) expect(sources).toContain(part.trim());
  });
});
