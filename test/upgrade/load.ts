import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import type { Version } from './app.js';
import type { AppProcess } from './process.js';
import { type Answer, type Endpoint, ENDPOINTS, send } from './request.js';

const CLIENTS = 5;
/** What a client waits before it asks again. */
const PAUSE_MS = 25;

/** A key that was answered. */
export interface Settled {
  readonly endpoint: Endpoint;
  readonly key: string;
  /** Every answer that counts, as it came. */
  readonly bytes: readonly string[];
}

/**
 * Clients that send each key twice at the same time, to a process of each version where there are both, and each of the
 * two again and again until it has an answer.
 */
export class Load {
  readonly settled: Settled[] = [];
  /** Answers that nobody has documented. */
  readonly unexpected: string[] = [];
  readonly replays = new Map<string, number>();
  private isOver = false;
  private readonly clients: Promise<void>[];

  constructor(private readonly processes: readonly AppProcess[]) {
    this.clients = Array.from({ length: CLIENTS }, (_, at) => this.run(at));
  }

  /** Waits until so many keys more are answered. */
  async answered(count: number): Promise<void> {
    const goal = this.settled.length + count;
    while (this.settled.length < goal && this.unexpected.length === 0) await pause(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.clients);
  }

  private async run(at: number): Promise<void> {
    for (let turn = at; !this.isOver; turn++) {
      const endpoint = ENDPOINTS[turn % ENDPOINTS.length]!;
      const key = randomUUID();
      const answers = await Promise.all(
        (['previous', 'current'] as const).map((version) => this.untilAnswered(version, endpoint, key)),
      );
      this.settled.push({ endpoint, key, bytes: answers.map(({ bytes }) => bytes) });
    }
  }

  private async untilAnswered(preferred: Version, endpoint: Endpoint, key: string): Promise<Answer> {
    for (let turn = 0; ; turn++) {
      const alive = this.processes.filter(({ isAlive }) => isAlive);
      const ofVersion = alive.filter(({ version }) => version === preferred);
      const asked = ofVersion.length > 0 ? ofVersion : alive;
      const to = asked[turn % asked.length]!;
      const answer = await send(to, endpoint, key, { amount: 1 });
      if (isFinal(answer)) {
        this.count(answer, to.version);
        return answer;
      }
      if (!isRetryable(answer)) this.unexpected.push(answer.bytes);
      await pause(PAUSE_MS);
    }
  }

  /** Whose answer was replayed by whom. */
  private count({ isReplay, bytes }: Answer, replayedBy: Version): void {
    const made = /"by":"(\w+)"/.exec(bytes)?.[1];
    if (!isReplay || made === undefined) return;
    const name = `${made} by ${replayedBy}`;
    this.replays.set(name, (this.replays.get(name) ?? 0) + 1);
  }
}

const isFinal = ({ status, code }: Answer): boolean => code === undefined && (status === 201 || status === 409);

/** No answer at all, an operation in progress, or a process that shuts down or waits for its database. */
function isRetryable({ status, code }: Answer): boolean {
  return status === 0 || code === 'idempotency-request-in-progress' || (status === 503 && code !== undefined);
}
