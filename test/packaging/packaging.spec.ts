import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { type TestDatabase, createTestDatabase } from '../database/test-database.js';
import type { Answer } from './app/posts.js';
import { FreshProject } from './fresh-project.js';
import { filesIn, pack, root } from './package.js';
import { run } from './run.js';

/** Installing is most of it, and takes minutes where npm's cache is cold. */
jest.setTimeout(600_000);

const PROJECTS = ['nest-12', 'nest-11', 'nest-10'] as const;

const SAME_CLASSES = `
  import { createRequire } from 'node:module';
  import * as imported from 'nestjs-idempotency';
  const required = createRequire(import.meta.url)('nestjs-idempotency');
  console.log(Object.keys(imported).filter((name) => imported[name] !== required[name]).join());
`;

let folder: string;
let tarball: string;

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'nestjs-idempotency-')));
  tarball = await pack(folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the package', () => {
  it('holds both builds with their declarations and source maps, and no tests', async () => {
    const files = await filesIn(tarball);
    for (const build of ['esm', 'cjs']) {
      for (const suffix of ['js', 'js.map', 'd.ts', 'd.ts.map'])
        expect(files).toContain(`dist/${build}/index.${suffix}`);
    }
    expect(files).toEqual(expect.arrayContaining(['dist/cjs/package.json', 'src/index.ts', 'LICENSE', 'README.md']));
    expect(files.filter((path) => /\.(?:spec|fixture)\./.test(path))).toEqual([]);
  });

  it('follows the rules of publint', async () => {
    await run(process.execPath, ['node_modules/publint/src/cli.js', 'run', tarball, '--strict'], root);
  });

  it('has types that say what is loaded, however it is resolved', async () => {
    await run(process.execPath, ['node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--no-color'], root);
  });
});

describe('a fresh project', () => {
  const databases = new Map<string, TestDatabase>();
  const projects = new Map<string, FreshProject>();

  beforeAll(async () => {
    for (const name of PROJECTS) databases.set(name, await createTestDatabase());
    await Promise.all(
      PROJECTS.map(async (name) => {
        projects.set(name, await FreshProject.create(name, folder, tarball, databases.get(name)!.url));
      }),
    );
  });

  afterAll(async () => {
    for (const database of databases.values()) await database.drop();
  });

  describe.each(PROJECTS)('on %s', (name) => {
    const things = async (named: string): Promise<unknown[]> => {
      const client = new Client({ connectionString: databases.get(name)!.url });
      await client.connect();
      try {
        return (await client.query<{ id: number }>('SELECT id, name FROM things WHERE name = $1', [named])).rows;
      } finally {
        await client.end();
      }
    };

    it('compiles', async () => {
      await projects.get(name)!.compile();
    });

    it('replays a post in its jest, and holds one row', async () => {
      await projects.get(name)!.jest();
      expect(await things('by-jest')).toHaveLength(1);
    });

    it('replays a post in plain Node, refuses what it cannot protect, and holds one row', async () => {
      const answers = JSON.parse(await projects.get(name)!.node(['dist/main.js'])) as Answer[];
      const [first, second, withoutKey, unread] = answers;
      const [thing, ...others] = await things('by-node');
      expect(others).toEqual([]);
      expect(first).toMatchObject({ status: 201, replayed: null });
      expect(JSON.parse(first!.body)).toEqual(thing);
      expect(second).toEqual({ ...first, replayed: 'true' });
      for (const [answer, status, code] of [
        [withoutKey, 400, 'idempotency-key-missing'],
        [unread, 415, 'idempotency-payload-unsupported'],
      ] as const) {
        expect(answer).toMatchObject({ status, type: 'application/problem+json; charset=utf-8' });
        expect(JSON.parse(answer!.body)).toMatchObject({ status, code });
      }
      expect(await things('amiss')).toEqual([]);
    });

    it('has the command line, which finds the tables and their records', async () => {
      const project = projects.get(name)!;
      expect(await project.bin('nestjs-idempotency', ['--help'])).toMatch(/^Usage: nestjs-idempotency /);
      const url = databases.get(name)!.url;
      const { records } = JSON.parse(await project.bin('nestjs-idempotency', ['list', '--json', '--url', url])) as {
        records: { state: string }[];
      };
      expect(records.map(({ state }) => state)).toContain('completed');
    });

    it('gets the same classes by `import` and by `require`', async () => {
      const different = await projects.get(name)!.node(['--input-type=module', '--eval', SAME_CLASSES]);
      expect(different.trim()).toBe('');
    });
  });
});
