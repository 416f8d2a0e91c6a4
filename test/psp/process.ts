import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Merchant } from './psp.js';

const MAIN = join(import.meta.dirname, '../../apps/psp/dist/main.js');

export interface Ending {
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built provider in a process of its own, with a channel to this one. */
export class PspProcess extends Merchant {
  private constructor(
    port: number,
    private readonly child: ChildProcess,
    private readonly ended: Promise<Ending>,
  ) {
    super(port);
  }

  static async start(environment: NodeJS.ProcessEnv): Promise<PspProcess> {
    const child = fork(MAIN, {
      env: { ...process.env, PORT: '0', ...environment },
      execArgv: [],
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const ended: Promise<Ending> = once(child, 'exit').then(([exitCode, signal]) => ({ exitCode, signal }));
    for await (const line of createInterface(child.stdout!)) {
      const port = /^The payment provider is at http:\/\/localhost:(\d+)$/.exec(line)?.[1];
      if (port !== undefined) return new PspProcess(Number(port), child, ended);
    }
    throw new Error('The provider did not start. Is it built? `npm run build` builds it.');
  }

  /** Sends the signal and resolves when the process is gone. */
  async end(signal: NodeJS.Signals): Promise<Ending> {
    this.child.kill(signal);
    return this.ended;
  }

  /** Lets go of it as a parent that dies does. */
  async disown(): Promise<Ending> {
    this.child.disconnect();
    return this.ended;
  }
}
