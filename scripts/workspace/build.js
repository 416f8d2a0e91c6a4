import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { npm } from './npm.js';
import { root } from './root.js';

const SOURCE_FOLDERS = ['libs', 'apps'];
const SOURCE_FILES = ['package.json', 'package-lock.json', 'tsconfig.json', 'nest-cli.json'];
const OUTPUT_FOLDERS = ['libs/idempotency/dist', 'apps/payments/dist', 'apps/psp/dist'];

/** What was built last, kept in the output so that it goes when the output goes. */
const STAMP = join(root, 'apps/payments/dist/.sources.sha256');

/** Builds the library and the applications when their sources are not those of the last build. */
export async function buildWhenStale(interruption) {
  const sources = await hashSources();
  const isBuilt = OUTPUT_FOLDERS.every((folder) => existsSync(join(root, folder)));
  if (isBuilt && (await readFile(STAMP, 'utf8').catch(() => '')) === sources) return;
  console.log('Building (npm run build) …');
  await npm(['run', 'build'], { interruption, remedy: 'The messages of the compiler stand above.' });
  await writeFile(STAMP, sources);
}

/** By content: a checkout and a copy change times without changing sources, and the other way round. */
async function hashSources() {
  const hash = createHash('sha256');
  const folders = await Promise.all(SOURCE_FOLDERS.map(listSources));
  for (const path of [...SOURCE_FILES, ...folders.flat().sort()]) {
    const content = await readFile(join(root, path));
    hash.update(`${path}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}

async function listSources(folder) {
  const entries = await readdir(join(root, folder), { withFileTypes: true });
  const paths = entries
    .filter(({ name }) => name !== 'node_modules' && name !== 'dist' && !name.endsWith('.tsbuildinfo'))
    .map((entry) => (entry.isDirectory() ? listSources(`${folder}/${entry.name}`) : [`${folder}/${entry.name}`]));
  return (await Promise.all(paths)).flat();
}
