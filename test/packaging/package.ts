import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { npm, run } from './run.js';

export const root = join(import.meta.dirname, '../..');

const library = join(root, 'libs/idempotency');

/** Packs the library as it was built last, and returns the path of the tarball. */
export async function pack(folder: string): Promise<string> {
  if (!existsSync(join(library, 'dist'))) {
    throw new Error('The library is not built. Run `npm run build`, or these tests by `npm test`, which builds it.');
  }
  const output = await npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], library);
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  return join(folder, filename);
}

/** The path of every file in the tarball, below its one folder. */
export async function filesIn(tarball: string): Promise<string[]> {
  const list = await run('tar', ['-tzf', tarball], root);
  return list
    .trim()
    .split(/\r?\n/)
    .map((path) => path.replace('package/', ''));
}
