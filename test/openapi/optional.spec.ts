import { copyFile, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { run } from '../packaging/run.js';

jest.setTimeout(60_000);

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');
const LIBRARY = join(ROOT, 'libs/idempotency');
const SWAGGER = '@nestjs/swagger';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database?.drop());

/** A folder with an application and the built library, in which everything is installed but `@nestjs/swagger`. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nestjs-idempotency-'));
  const manifest = await readFile(join(LIBRARY, 'package.json'), 'utf8');
  const { dependencies, peerDependencies } = JSON.parse(manifest) as Record<string, Record<string, string>>;
  const names = [...Object.keys({ ...dependencies, ...peerDependencies }), '@nestjs/platform-express'];
  for (const name of names) if (name !== SWAGGER) await install(name);
  await mkdir(join(folder, 'node_modules/nestjs-idempotency'));
  await writeFile(join(folder, 'node_modules/nestjs-idempotency/package.json'), manifest);
  await cp(join(LIBRARY, 'dist'), join(folder, 'node_modules/nestjs-idempotency/dist'), { recursive: true });
  await copyFile(join(HERE, 'stand-alone/app.mjs'), join(folder, 'app.mjs'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function install(name: string): Promise<void> {
  const link = join(folder, 'node_modules', name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(join(ROOT, 'node_modules', name), link, 'junction');
}

/** Installs a package of that name that holds nothing but this program. */
async function installBroken(program: string): Promise<void> {
  const broken = join(folder, 'node_modules', SWAGGER);
  await mkdir(broken, { recursive: true });
  await writeFile(
    join(broken, 'package.json'),
    JSON.stringify({ name: SWAGGER, type: 'module', exports: './index.js' }),
  );
  await writeFile(join(broken, 'index.js'), program);
}

describe.each(['esm', 'cjs'])('the %s build', (build) => {
  const start = async (...task: string[]): Promise<unknown> => {
    const library = `./node_modules/nestjs-idempotency/dist/${build}/index.js`;
    const environment = { DATABASE_URL: database.url };
    return JSON.parse(await run(process.execPath, ['app.mjs', library, ...task], folder, { environment }));
  };

  it('works where @nestjs/swagger is not installed', async () => {
    expect(await start()).toEqual([
      [201, null, { id: 1 }],
      [201, 'true', { id: 1 }],
    ]);
  });

  it('completes the documents of @nestjs/swagger where it is', async () => {
    await install(SWAGGER);
    expect(await start('document')).toMatchObject({
      paths: { '/things': { post: { parameters: [{ name: 'Idempotency-Key', required: true }] } } },
    });
  });

  it('does not start with one that fails to load', async () => {
    await installBroken("throw new Error('This package is broken.');");
    await expect(start()).rejects.toThrow('This package is broken.');
  });

  it('does not start with one that misses a package of its own', async () => {
    await installBroken("import 'a-package-that-is-not-there';");
    await expect(start()).rejects.toThrow("Cannot find package 'a-package-that-is-not-there'");
  });
});
