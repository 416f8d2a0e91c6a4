import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { IdempotencyModuleOptions } from 'nestjs-idempotency';

import type { Platform } from './app.js';

export interface DoomedOptions {
  readonly platform: Platform;
  readonly url: string;
  /** Only what can be written as JSON. */
  readonly idempotency?: Pick<IdempotencyModuleOptions, 'claim'>;
  /** Where its first payment ends it, as a power cut would. */
  readonly dies: 'before COMMIT' | 'after COMMIT';
}

export interface Doomed {
  readonly port: number;
  /** Resolves when it is gone; rejects where it went otherwise than it was to. */
  readonly death: Promise<void>;
  kill(): void;
}

/** The application in a process of its own that dies at its first payment. */
export async function startDoomed(options: DoomedOptions): Promise<Doomed> {
  const child = fork(join(import.meta.dirname, 'doomed.mjs'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaints = '';
  child.stderr?.on('data', (text) => (complaints += text));
  const death = once(child, 'exit').then(([, signal]) => {
    if (signal !== 'SIGKILL') throw new Error(`The process ended by itself. ${complaints}`);
  });
  death.catch(() => undefined);
  child.send(options);
  const [{ port }] = (await Promise.race([once(child, 'message'), death.then(() => [{}])])) as [{ port: number }];
  return { port, death, kill: () => void child.kill('SIGKILL') };
}
