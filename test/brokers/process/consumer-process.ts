import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

import type { Transport } from '../broker.js';
import type { ConsumerOptions, Settled } from './consumer-app.js';

/** A statement, by a regular expression for the name it is prepared under, or else for its text. */
export interface Place {
  readonly statement: string;
  readonly when: 'before' | 'after';
}

/** A consumer in a process of its own. */
export class ConsumerProcess {
  /** What it has said of the deliveries that it was given, in their order. */
  readonly settled: Settled[] = [];
  private complaints = '';
  private readonly exited: Promise<never>;

  private constructor(private readonly child: ChildProcess) {
    child.stderr?.on('data', (text) => (this.complaints += text));
    child.on('message', (message: object) => {
      if ('settled' in message) this.settled.push(message.settled as Settled);
    });
    this.exited = once(child, 'exit').then(() => Promise.reject(new Error(`The consumer ended. ${this.complaints}`)));
    this.exited.catch(() => undefined);
  }

  /** Loads everything that it takes, so that it can consume at once when it is told to. */
  static async load(transport: Transport): Promise<ConsumerProcess> {
    const child = fork(join(import.meta.dirname, 'consumer.mjs'), [transport], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const process = new ConsumerProcess(child);
    await process.told('loaded');
    return process;
  }

  async consume(options: ConsumerOptions): Promise<void> {
    const consuming = this.told('consuming');
    this.child.send({ options });
    await consuming;
  }

  /** Has it wait before or after the next statement that matches; `reached` resolves when it stands there. */
  async stopAt(place: Place): Promise<{ readonly reached: Promise<void> }> {
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

  /** Ends it as a deployment does: it settles what it has begun, and takes no more. */
  async close(): Promise<void> {
    await this.end(() => this.child.send({ close: true }));
  }

  /** Ends it as a power cut would; resolves when it is gone. */
  async kill(): Promise<void> {
    await this.end(() => this.child.kill('SIGKILL'));
  }

  private async end(ask: () => void): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    ask();
    await exited;
  }

  private async told(what: string): Promise<void> {
    for (;;) {
      const [message] = (await Promise.race([once(this.child, 'message'), this.exited])) as [object];
      if (what in message) return;
    }
  }
}
