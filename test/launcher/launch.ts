import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

const PATIENCE_MS = 60_000;

export type Launched = {
  readonly pid: number;
  /** Everything it has printed so far. */
  output(): string;
  /** Waits until its output matches, and returns the first group; fails when it ends or a minute passes before. */
  printed(pattern: RegExp): Promise<string>;
  /** Its exit code, or the signal that ended it; once all that it started has ended, too. */
  readonly ended: Promise<number | string>;
};

const running = new Set<ChildProcess>();

/** Starts a command as the leader of a process group, as a terminal does. */
export function launch(
  [command, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv = {},
): Launched {
  const child = spawn(command, args, {
    env: { ...process.env, DATABASE_URL: undefined, ...environment },
    detached: true,
  });
  running.add(child);
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string);
  void ended.then(() => running.delete(child));

  let output = '';
  const append = (chunk: Buffer): void => {
    output += chunk.toString();
    child.emit('printed');
  };
  child.stdout.on('data', append);
  child.stderr.on('data', append);

  return {
    pid: Number(child.pid),
    output: () => output,
    ended,
    printed: async (pattern) => {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      for (let isOver = false; ;) {
        const match = pattern.exec(output);
        if (match) return match[1] ?? match[0];
        if (isOver) throw new Error(`It ended without printing ${String(pattern)}:\n${output}`);
        isOver = await Promise.race([once(child, 'printed', { signal }).then(() => false), ended.then(() => true)]);
      }
    },
  };
}

/** Ends what a failed test left running. */
export async function endAll(): Promise<void> {
  for (const child of running) {
    child.kill('SIGTERM');
    await once(child, 'close');
  }
}
