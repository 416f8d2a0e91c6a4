import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '../..');

/** The built demo, as `npm start` runs it. */
export async function startDemo(databaseUrl: string): Promise<Running> {
  const main = join(ROOT, 'apps/payments/dist/main.js');
  const child = spawn(process.execPath, [main], {
    env: { ...process.env, DATABASE_URL: databaseUrl, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const port = /^Payments are at http:\/\/localhost:(\d+),/.exec(line)?.[1];
    if (port === undefined) continue;
    child.stdout.resume();
    return running(child, Number(port));
  }
  throw new Error('The demo did not start. Is it built? `npm run build` builds it.');
}

/** A process of the demo's payments that can be made to wait at any of its statements. */
export async function startWorker({ databaseUrl, leaseMs }: WorkerOptions): Promise<StoppableWorker> {
  const child = fork(join(import.meta.dirname, 'worker.mjs'), {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaints = '';
  child.stderr?.on('data', (text) => (complaints += text));
  const told = async (what: string): Promise<Record<string, unknown>> => {
    const exited = once(child, 'exit').then(() =>
      Promise.reject(new Error(`The worker died before it told ${what}. ${complaints}`)),
    );
    exited.catch(() => undefined);
    for (;;) {
      const [message] = (await Promise.race([once(child, 'message'), exited])) as [Record<string, unknown>];
      if (what in message) return message;
    }
  };
  const listening = told('port');
  child.send({ databaseUrl, leaseMs });
  const { port } = await listening;
  return {
    ...running(child, Number(port)),
    stopAt: async (place) => {
      const armed = told('armed');
      child.send({ stopAt: place });
      await armed;
      const reached = told('reached');
      reached.catch(() => undefined);
      return { reached: reached.then(() => undefined) };
    },
    goOn: () => void child.send({ goOn: true }),
    signal: (name) => void child.kill(name),
  };
}

export interface WorkerOptions {
  readonly databaseUrl: string;
  readonly leaseMs: number;
}

export interface Running {
  readonly port: number;
  /** Ends the process as a power cut would; resolves when it is gone. */
  kill(): Promise<void>;
  /** Asks the process to end, as a deployment does; resolves when it is gone. */
  terminate(): Promise<void>;
}

export interface StoppableWorker extends Running {
  /** Has the process wait before or after the next statement that matches; `reached` resolves when it stands there. */
  stopAt(place: Place): Promise<{ readonly reached: Promise<void> }>;
  goOn(): void;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

export interface Place {
  /** A regular expression for the name it is prepared under, or else for its text. */
  readonly statement: string;
  readonly when: 'before' | 'after';
}

function running(child: ChildProcess, port: number): Running {
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  return { port, kill: () => end('SIGKILL'), terminate: () => end('SIGTERM') };
}
