import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const LIBRARY = join(import.meta.dirname, '../../libs/idempotency');
const BIN = join(LIBRARY, 'bin/nestjs-idempotency.js');

/** Has a process take its standard input for a terminal. */
const AT_A_TERMINAL = "data:text/javascript,Object.defineProperty(process.stdin, 'isTTY', { value: true })";

/** What asks before every change. */
const PROMPT = 'Type yes to go on: ';

/** What a command came to. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Its answer under `--json`. */
  json<Document = Record<string, unknown>>(): Document;
}

/** The built command line, in processes of its own. */
export class Cli {
  /** Everything that any of them wrote. */
  written = '';

  constructor(private readonly environment: NodeJS.ProcessEnv) {
    if (!existsSync(BIN)) {
      throw new Error('The library is not built. Run `npm run build`, or these tests by `npm test`, which builds it.');
    }
  }

  /** Runs a command to its end, with nobody at a terminal. */
  run(...args: string[]): Promise<Ended> {
    return this.start(args).ended;
  }

  /** Runs a command with somebody at its terminal, up to where it asks. */
  async ask(...args: string[]): Promise<Asking> {
    const running = this.start(args, ['--import', AT_A_TERMINAL]);
    await Promise.race([running.said(PROMPT), running.ended.then((ended) => Promise.reject(new Error(ended.stderr)))]);
    return {
      seen: running.stderr(),
      answer: (text) => {
        running.child.stdin.end(text);
        return running.ended;
      },
      interrupt: () => {
        running.child.kill('SIGINT');
        return running.ended;
      },
    };
  }

  start(args: readonly string[], nodeArgs: readonly string[] = []): Running {
    const child = spawn(process.execPath, [...nodeArgs, BIN, ...args], {
      env: this.environment,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    const waiting = new Map<string, () => void>();
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      for (const [text, resolve] of waiting) if (stderr.includes(text)) resolve();
    });
    const ended = once(child, 'close').then(([code]): Ended => {
      this.written += stdout + stderr;
      return { code: code as number | null, stdout, stderr, json: () => JSON.parse(stdout) as never };
    });
    return {
      child,
      ended,
      stderr: () => stderr,
      said: (text) => new Promise((resolve) => waiting.set(text, resolve)),
    };
  }
}

export interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly ended: Promise<Ended>;
  stderr(): string;
  /** Resolves once it has written this to stderr. */
  said(text: string): Promise<void>;
}

export interface Asking {
  /** What it showed before it asked. */
  readonly seen: string;
  answer(text: string): Promise<Ended>;
  interrupt(): Promise<Ended>;
}

/** The environment of a command that works on this database; every variable that could say another one is gone. */
export function environmentOf(databaseUrl: string | undefined, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(PG|DATABASE_URL$)/.test(name));
  return {
    ...Object.fromEntries(own),
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...more,
  };
}
