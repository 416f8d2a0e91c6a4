import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shortly } from '../messages/shortly.js';
import { freePort } from './free-port.js';
import { PROMETHEUS } from './written.js';

/** What the configuration scrapes in earnest. */
const DEMO = 'host.docker.internal:9464';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Rule {
  readonly name: string;
  readonly health: string;
}

/** A Prometheus in a process of its own, with the files that compose mounts; it scrapes `target` in place of the demo. */
export class Prometheus {
  private constructor(
    private readonly url: string,
    private readonly folder: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(target: string): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
    cpSync(PROMETHEUS, folder, { recursive: true });
    const config = join(folder, 'prometheus.yml');
    const written = readFileSync(config, 'utf8');
    if (!written.includes(DEMO)) throw new Error(`prometheus.yml does not scrape ${DEMO}.`);
    writeFileSync(config, written.replace(DEMO, target));
    const address = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=${address}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'inherit', 'inherit'] },
    );
    const prometheus = new Prometheus(`http://${address}`, folder, child);
    await shortly(() => prometheus.isReady());
    return prometheus;
  }

  /** What a query gives now. Rejects with Prometheus' own words where it does not understand it. */
  async query(expr: string): Promise<Sample[]> {
    const { result } = await this.get<{ result: { metric: Sample['metric']; value: [number, string] }[] }>(
      `/api/v1/query?${new URLSearchParams({ query: expr }).toString()}`,
    );
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  async rules(): Promise<Rule[]> {
    const { groups } = await this.get<{ groups: { rules: Rule[] }[] }>('/api/v1/rules');
    return groups.flatMap(({ rules }) => rules);
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGTERM');
      await once(this.child, 'exit');
    }
    rmSync(this.folder, { recursive: true });
  }

  private async get<Data>(path: string): Promise<Data> {
    const response = await fetch(this.url + path);
    const answer = (await response.json()) as { status: string; error?: string; data: Data };
    if (answer.status !== 'success') throw new Error(answer.error);
    return answer.data;
  }

  private async isReady(): Promise<boolean> {
    if (this.child.exitCode !== null) throw new Error('Prometheus did not start.');
    const response = await fetch(`${this.url}/-/ready`).catch(() => null);
    return response?.ok ?? false;
  }
}
