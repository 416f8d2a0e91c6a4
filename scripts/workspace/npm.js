import { Refusal } from '../foreground/refusal.js';
import { run } from '../foreground/run.js';
import { root } from './root.js';

/** Runs npm in the project, its output visible; a failure ends the script with `remedy`. */
export async function npm(args, { interruption, remedy }) {
  // npm is a .cmd file on Windows, which only a shell can start.
  const { exitCode } = await run('npm', args, { interruption, cwd: root, shell: process.platform === 'win32' });
  interruption.throwIfAborted();
  if (exitCode !== 0) throw new Refusal(`\`npm ${args.join(' ')}\` failed with exit code ${exitCode}. ${remedy}`);
}
