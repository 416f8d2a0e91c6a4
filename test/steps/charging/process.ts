import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { ChargingAppOptions } from './app.js';

/** A statement, by a regular expression for the name it is prepared under, or else for its text. */
export interface Place {
  readonly statement: string;
  readonly when: 'before' | 'after';
}

/** The application in a process of its own. */
export class ChargingProcess {
  private complaints = '';
  private readonly exited: Promise<never>;

  private constructor(
    private readonly child: ChildProcess,
    /** 0 until it listens. */
    readonly port: number,
  ) {
    child.stderr?.on('data', (text) => (this.complaints += text));
    this.exited = once(child, 'exit').then(() => Promise.reject(new Error(`The process ended. ${this.complaints}`)));
    this.exited.catch(() => undefined);
  }

  static async start(options: Omit<ChargingAppOptions, 'logger'>): Promise<ChargingProcess> {
    const child = fork(join(import.meta.dirname, 'stoppable.mjs'), {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const starting = new ChargingProcess(child, 0);
    await starting.told('loaded');
    child.send({ options });
    const { port } = await starting.told('port');
    return new ChargingProcess(child, Number(port));
  }

  /** Has it wait before or after the next statement that matches; `reached` resolves when it stands there. */
  async stopAt(place: Place): Promise<{ readonly reached: Promise<unknown> }> {
    const armed = this.told('armed');
    this.child.send({ stopAt: place });
    await armed;
    const reached = this.told('reached');
    reached.catch(() => undefined);
    return { reached };
  }

  goOn(): void {
    this.child.send({ goOn: true });
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /** Ends it as a power cut would; resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  private async told(what: string): Promise<Record<string, unknown>> {
    for (;;) {
      const [message] = (await Promise.race([once(this.child, 'message'), this.exited])) as [Record<string, unknown>];
      if (what in message) return message;
    }
  }
}
