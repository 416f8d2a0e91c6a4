import { type ChildProcess, fork } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';

import type { AppOptions, Version } from './app.js';

/** The application in a process of its own. */
export class AppProcess {
  private constructor(
    private readonly child: ChildProcess,
    readonly version: Version,
    readonly port: number,
    /** Everything it has written to its standard error. */
    private readonly complaints: string[],
  ) {}

  static async start(options: AppOptions): Promise<AppProcess> {
    const child = fork(join(import.meta.dirname, 'runs-app.mjs'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const complaints: string[] = [];
    child.stderr?.on('data', (text) => complaints.push(String(text)));
    const exited = once(child, 'exit').then(() =>
      Promise.reject(new Error(`The process ended before it listened. ${complaints.join('')}`)),
    );
    exited.catch(() => undefined);
    const told = async () => ((await Promise.race([once(child, 'message'), exited])) as [{ port?: number }])[0];
    await told();
    child.send(options);
    const { port } = await told();
    return new AppProcess(child, options.version, port!, complaints);
  }

  /** Resolves when the order of this key stands where it says; ask before it is sent. */
  async standing(key: string): Promise<void> {
    for await (const [message] of on(this.child, 'message')) {
      if ((message as { standing?: string }).standing === key) return;
    }
  }

  get complaint(): string {
    return this.complaints.join('');
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** `SIGKILL` ends it as a power cut would, `SIGTERM` as a deployment does. Resolves when it is gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (!this.isAlive) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}
