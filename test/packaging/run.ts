import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a program to its end and returns what it wrote to stdout; rejects with all of its output when it failed. */
export async function run(
  program: string,
  args: readonly string[],
  folder: string,
  { shell = false, environment = {} }: { readonly shell?: boolean; readonly environment?: NodeJS.ProcessEnv } = {},
): Promise<string> {
  const child = spawn(program, args, { cwd: folder, shell, env: { ...process.env, ...environment } });
  let stdout = '';
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk.toString();
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`\`${[program, ...args].join(' ')}\` failed in ${folder}:\n${output}`);
  return stdout;
}

/** Runs npm, which is a .cmd file on Windows, that only a shell can start. */
export function npm(args: readonly string[], folder: string): Promise<string> {
  return run('npm', args, folder, { shell: process.platform === 'win32' });
}
