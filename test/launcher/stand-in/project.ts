import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const workspace = join(import.meta.dirname, '../../..');

/** Makes a project with the scripts of this one and stand-ins for all that they build and run; returns its folder. */
export function makeProject(): string {
  const folder = mkdtempSync(join(tmpdir(), 'project-'));
  // Open, so that also the account that runs the server for root can use it.
  chmodSync(folder, 0o755);
  for (const path of ['scripts', 'package-lock.json', 'tsconfig.json', 'nest-cli.json']) {
    cpSync(join(workspace, path), join(folder, path), { recursive: true });
  }
  for (const file of ['app.js', 'build.js']) cpSync(join(import.meta.dirname, file), join(folder, file));
  for (const path of ['libs', 'apps', 'test']) mkdirSync(join(folder, path));
  symlinkSync(join(workspace, 'node_modules'), join(folder, 'node_modules'));

  const { engines } = JSON.parse(readFileSync(join(workspace, 'package.json'), 'utf8')) as { engines: object };
  const manifest = { type: 'module', engines, scripts: { build: 'node build.js', start: 'node scripts/start.js' } };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'jest.config.js'), `export default { testMatch: ['**/test/*.spec.js'] };`);
  return folder;
}
