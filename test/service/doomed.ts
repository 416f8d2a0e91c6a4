import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ConsumedMessage, OperationRequest } from 'nestjs-idempotency';

import { eventually } from '../module/gate.js';
import type { Witness } from '../module/witness.js';

/** What it is to begin. */
export type Begun =
  { readonly consume: ConsumedMessage } | { readonly run: OperationRequest } | { readonly charge: OperationRequest };

/** An application in a process of its own, whose work never ends. */
export class DoomedProcess {
  private complaints = '';
  private readonly heard: Record<string, unknown>[] = [];
  private readonly exited: Promise<never>;

  private constructor(private readonly child: ChildProcess) {
    child.stderr?.on('data', (text) => (this.complaints += text));
    child.on('message', (message) => this.heard.push(message as Record<string, unknown>));
    this.exited = once(child, 'exit').then(() => Promise.reject(new Error(`The process ended. ${this.complaints}`)));
    this.exited.catch(() => undefined);
  }

  static async start(url: string): Promise<DoomedProcess> {
    const doomed = new DoomedProcess(
      fork(join(import.meta.dirname, 'stands-inside.mjs'), {
        execArgv: [],
        stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      }),
    );
    await doomed.told('loaded');
    doomed.child.send({ url });
    await doomed.told('started');
    return doomed;
  }

  /** Resolves when its work has written, to which attempt at the operation it is. */
  async begin(what: Begun): Promise<unknown> {
    this.child.send(what);
    return this.told('inside');
  }

  /** Resolves to what it tells under this name, once. */
  async told(name: string): Promise<unknown> {
    for (;;) {
      const at = this.heard.findIndex((message) => name in message);
      if (at >= 0) return this.heard.splice(at, 1)[0]![name];
      await Promise.race([once(this.child, 'message'), this.exited]);
    }
  }

  /** Ends it as a power cut would; resolves when it is gone, and the server has noticed. */
  async kill(witness: Witness): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const exited = once(this.child, 'exit');
      this.child.kill('SIGKILL');
      await exited;
    }
    await eventually('the sessions of the dead are over', async () => {
      const sessions = await witness.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'doomed'`,
      );
      return sessions.length === 0;
    });
  }
}
