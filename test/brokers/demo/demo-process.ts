import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const DIST = join(import.meta.dirname, '../../../apps/payments/dist');

/** The built demo in a process of its own. */
export class DemoProcess {
  private constructor(
    readonly url: string,
    /** What it has printed and logged, line by line. */
    readonly lines: readonly string[],
    private readonly child: ChildProcess,
  ) {}

  static async start(environment: NodeJS.ProcessEnv): Promise<DemoProcess> {
    const child = spawn(process.execPath, [join(DIST, 'main.js')], {
      env: { ...process.env, PORT: '0', NO_COLOR: '1', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    const listening = new Promise<string>((resolve, reject) => {
      for (const output of [child.stdout, child.stderr]) {
        createInterface(output).on('line', (line) => {
          lines.push(line);
          const url = /^Payments are at (\S+),/.exec(line)?.[1];
          if (url !== undefined) resolve(url);
        });
      }
      child.once('exit', () =>
        reject(new Error(`The demo did not start. Is it built? \`npm run build\` builds it. ${lines.join('\n')}`)),
      );
    });
    return new DemoProcess(await listening, lines, child);
  }

  /** Charges a card, and resolves to what the charge is called everywhere. */
  async charge(amount: number): Promise<string> {
    const answer = await fetch(`${this.url}/charges`, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer sk_demo_acme',
        'Idempotency-Key': randomUUID(),
        'Content-Type': 'application/json',
      },
      body: JSON.stringify({ amount, currency: 'usd', card: 'tok_visa' }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    return `mer_acme/${((await answer.json()) as { id: string }).id}`;
  }

  /** Ends it as a deployment does: it settles what it has begun, and takes no more. */
  stop(): Promise<void> {
    return this.end('SIGTERM');
  }

  /** Ends it as a power cut would. */
  kill(): Promise<void> {
    return this.end('SIGKILL');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill(signal);
    await exited;
  }
}

/** Has the bank's program run to its end, and resolves to the lines it has printed. */
export async function runBank(environment: NodeJS.ProcessEnv, ...args: string[]): Promise<string[]> {
  const child = spawn(process.execPath, [join(DIST, 'settlements/publisher/main.js'), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  for (const output of [child.stdout, child.stderr]) createInterface(output).on('line', (line) => lines.push(line));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  if (exitCode !== 0) throw new Error(lines.join('\n'));
  return lines;
}
