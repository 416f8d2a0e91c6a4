import { setTimeout as pass } from 'node:timers/promises';
import type { Pool, PoolClient, QueryResult } from 'pg';
import type { EntityManager } from 'typeorm';
import type { ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';
import { IdempotencyError } from '../../libs/idempotency/src/core/errors.js';
import type { Execution, Fate, Verdict } from '../../libs/idempotency/src/core/execution.js';
import type { Lease } from '../../libs/idempotency/src/core/ports.js';
import type { Recording } from '../../libs/idempotency/src/core/recording.js';
import { isConflict } from '../../libs/idempotency/src/storage/postgres-errors.js';
import { mishapWatch, randomMishap, type Scene } from './mishap.js';
import { choicesFor, type Choices } from './random.js';
import { cut, type Passing, type Watch, watching } from './statement-watch.js';
import type { Worker } from './worker.js';

/** How often each thing happened: a race in which something never happens proves nothing about it. */
export type Tally = Map<string, number>;

export function count(tally: Tally, what: string): void {
  tally.set(what, (tally.get(what) ?? 0) + 1);
}

/** What a client or a worker was told: `execution` was recorded, or undone, or stands as somebody's answer. */
export interface Told {
  readonly key: string;
  readonly what: 'answer' | 'undone';
  readonly execution: string;
}

export interface Field {
  readonly seed: number;
  /** In which of these ways an attempt claims is left to chance. */
  readonly strategies: readonly [ClaimStrategy, ...ClaimStrategy[]];
  readonly workers: readonly [Worker, ...Worker[]];
  /** Connections that end other sessions. */
  readonly executioner: Pool;
  readonly tally: Tally;
  readonly told: Told[];
}

/** How long a round may take until all of its clients have their answer, in milliseconds. */
const ROUND_LIMIT_MS = 60_000;

/** From this try on nothing befalls a client any more, and its leases grow. */
const LUCKY_TRY = 4;

const FINGERPRINT = Buffer.alloc(33, 1);
const OTHER_FINGERPRINT = Buffer.concat([Buffer.of(1), Buffer.alloc(32, 2)]);
/**
 * A transaction that idles for longer than its lease is ended by the server, and would never come as far as its
 * recording. Most are spared that: their claims are to be lost at the recording itself.
 */
const PATIENCE = 'SET LOCAL idle_in_transaction_session_timeout = 0';

const RETENTION_MS = 3_600_000;

/** Two or three clients that want the same operation done, and retry until they are answered. */
export class Round {
  private claims = 0;
  private isAnswered = false;
  private readonly waiting: (() => void)[] = [];
  private readonly corpses: PoolClient[] = [];

  private constructor(
    private readonly field: Field,
    private readonly number: number,
    readonly key: string,
  ) {}

  static async run(field: Field, number: number, key: string): Promise<void> {
    const round = new Round(field, number, key);
    try {
      await round.play();
    } finally {
      round.corpses.splice(0).forEach(cut);
    }
  }

  private async play(): Promise<void> {
    const choices = choicesFor(this.field.seed, this.number);
    const clients = Array.from({ length: choices.chance(0.3) ? 3 : 2 }, (_, client) => this.serve(client));
    if (choices.chance(0.1)) clients.push(this.intrude(choices));
    await within(ROUND_LIMIT_MS, Promise.all(clients), `round ${this.number}`);
  }

  /** Keeps an attempt's lease as its worker does, and lets the others know of the claim. */
  private keep(lease: Lease, { leases }: Worker, scene: AttemptScene): () => void {
    const { tally } = this.field;
    scene.claim = ++this.claims;
    if (lease.claim.attempts > 1) count(tally, 'takeover');
    else if (scene.claim > 1) count(tally, 'claim after one that left nothing');
    this.letGo();
    this.corpses.splice(0).forEach(cut);
    const onLost = (): void => {
      count(tally, 'loss noticed by a renewal');
      lease.onLost();
    };
    return (scene.stopRenewals = leases.keep({ ...lease, onLost }));
  }

  /** Lets those go on who wait for somebody to take over. */
  private letGo(): void {
    this.waiting.splice(0).forEach((resolve) => resolve());
  }

  private async serve(client: number): Promise<void> {
    for (let tries = 0; ; tries++) {
      const choices = choicesFor(this.field.seed, this.number, client, tries);
      if (choices.chance(0.5)) await pass(choices.between(0, 4));
      const answer = await this.attempt(choices, `${this.key}/${client}.${tries}`, tries);
      if (typeof answer === 'string') {
        this.field.told.push({ key: this.key, what: 'answer', execution: answer });
        this.isAnswered = true;
        this.letGo();
        return;
      }
      await pass(answer.retryAfterMs);
    }
  }

  /** One attempt: the execution whose answer it was given, or when to try again. */
  private attempt(choices: Choices, execution: string, tries: number): Promise<string | { retryAfterMs: number }> {
    const { tally } = this.field;
    count(tally, 'attempt');
    const worker = choices.oneOf(this.field.workers);
    const strategy = choices.oneOf(this.field.strategies);
    // A transaction that falls silent for so long is ended, which is dear: only those of which that is asked are to be.
    const shortest = strategy.kind === 'lease' ? 3 : 12;
    const leaseMs = Math.min(choices.between(shortest, 4 * shortest) * 2 ** tries, 500);
    let isAnswerLost = false;
    return new Promise((resolve, reject) => {
      const scene = this.sceneFor(() => resolve({ retryAfterMs: 1 }));
      const mishap = tries < LUCKY_TRY ? randomMishap(choices, strategy) : null;
      const befall = mishap ? mishapWatch(mishap, scene, (act) => count(tally, `${act} at ${mishap.at}`)) : letPass;
      // Only its idle timeout takes a transaction's lock away from a worker that says no more.
      const isSilenced = strategy.kind === 'transaction' && (mishap?.act === 'stall' || mishap?.act === 'die');
      const isPatient = choices.chance(0.9) && !isSilenced;
      const begin: Watch = async (passing) => {
        if (strategy.kind === 'lease') {
          return befall(isPatient ? { ...passing, send: () => passing.send(PATIENCE) } : passing);
        }
        // What it ends with is the answer to whether it has the lock.
        const answer = await befall(passing);
        if (isRefused(answer)) count(tally, 'lock refused');
        if (isPatient) await passing.client.query(PATIENCE);
        return answer;
      };
      const watch: Watch = async (passing) => {
        const { statement } = passing;
        try {
          return await (statement === 'BEGIN' ? begin : befall)(passing);
        } catch (error) {
          if (statement === 'COMMIT') isAnswerLost = true;
          if (isConflict(error)) count(tally, `conflict at ${statement}`);
          throw error;
        }
      };
      const run = async (): Promise<string | { retryAfterMs: number }> => {
        const { execution: claimed, answer } = await this.arrive(worker, { strategy, leaseMs }, scene, choices);
        if (!claimed) return answer;
        const fate = await this.work(claimed, choices, execution);
        if (isAnswerLost) count(tally, `a COMMIT without answer turned out ${fate.kind}`);
        return this.hear(fate, execution);
      };
      watching(watch, run).then(resolve, reject);
    });
  }

  private async arrive(
    worker: Worker,
    { strategy, leaseMs }: { strategy: ClaimStrategy; leaseMs: number },
    scene: AttemptScene,
    choices: Choices,
  ): Promise<
    | { execution: Execution<EntityManager>; answer?: undefined }
    | { execution?: undefined; answer: string | { retryAfterMs: number } }
  > {
    const { tally } = this.field;
    // A lock does not say how long it will be held.
    const pauseMs = strategy.kind === 'lease' ? 1 : choices.between(4, 12);
    try {
      const executor = worker.executorWith({ keep: (lease) => this.keep(lease, worker, scene) });
      const arrival = await executor.arrive({
        operation: { tenant: 'race', endpoint: 'race', key: this.key },
        fingerprint: FINGERPRINT,
        strategy,
        leaseMs,
        retentionMs: RETENTION_MS,
      });
      switch (arrival.kind) {
        case 'claimed':
          return arrival;
        case 'replay':
          count(tally, 'replay');
          return { answer: executionIn(arrival.recording) };
        case 'in_progress':
          count(tally, 'refusal: in progress');
          return { answer: { retryAfterMs: Math.min(Math.max(arrival.leaseLeftMs, pauseMs), 20) } };
        case 'mismatch':
          count(tally, 'refusal: mismatch');
          return { answer: { retryAfterMs: 5 } };
        case 'incomparable':
          throw new Error('Every fingerprint of the race is of the same version.');
      }
    } catch (error) {
      if (!(error instanceof IdempotencyError) || error.code !== 'idempotency-store-unavailable') throw error;
      count(tally, 'refusal: store unavailable');
      return { answer: { retryAfterMs: 1 } };
    }
  }

  private async work(execution: Execution<EntityManager>, choices: Choices, name: string): Promise<Fate> {
    try {
      const manager = await execution.begin();
      const insert = 'INSERT INTO effects (key, execution, part) SELECT $1, $2, $3 FROM pg_sleep($4)';
      const seconds = choices.chance(0.6) ? choices.between(1, 10) / 1_000 : 0;
      await manager.query(insert, [this.key, name, 1, 0]);
      await manager.query(insert, [this.key, name, 2, seconds]);
      if (isStrict(execution.attempt.strategy)) {
        // What two strict transactions may not both do.
        await manager.query('UPDATE turns SET taken = taken + 1 WHERE id = $1', [this.number % 4]);
      }
      await execution.seal();
    } catch {
      await execution.rollback();
      return execution.settle({ kind: 'release' });
    }
    return execution.settle(verdictFor(choices, name));
  }

  private hear(fate: Fate, execution: string): string | { retryAfterMs: number } {
    count(this.field.tally, `fate: ${fate.kind}`);
    const { told } = this.field;
    switch (fate.kind) {
      case 'recorded':
        return execution;
      case 'lost':
        told.push({ key: this.key, what: 'undone', execution });
        if (fate.decision.kind === 'replay') return executionIn(fate.decision.recording);
        return { retryAfterMs: 1 };
      case 'failed':
      case 'released':
        told.push({ key: this.key, what: 'undone', execution });
        return { retryAfterMs: 1 };
      case 'unknown':
        return { retryAfterMs: 1 };
    }
  }

  /** Somebody else's request under the same key: it never works, and must not be given the others' answer. */
  private async intrude(choices: Choices): Promise<void> {
    const { tally, workers, strategies } = this.field;
    const strategy = choices.oneOf(strategies);
    await pass(choices.between(0, 6));
    try {
      const arrival = await choices.oneOf(workers).executor.arrive({
        operation: { tenant: 'race', endpoint: 'race', key: this.key },
        fingerprint: OTHER_FINGERPRINT,
        strategy,
        leaseMs: 50,
        retentionMs: 50,
      });
      count(tally, `intruder: ${arrival.kind}`);
      if (arrival.kind === 'claimed') await arrival.execution.settle({ kind: 'release' });
    } catch (error) {
      if (!(error instanceof IdempotencyError)) throw error;
    }
  }

  private sceneFor(onDeath: () => void): AttemptScene {
    const scene: AttemptScene = {
      claim: 0,
      stopRenewals: () => undefined,
      terminate: async (backend) => {
        await this.field.executioner.query('SELECT pg_terminate_backend($1)', [backend]);
      },
      takenOver: async () => {
        // Claims can become known here in another order than they were made: one that is done was taken over as well.
        if (scene.claim !== this.claims || this.isAnswered) return;
        await new Promise<void>((resolve) => this.waiting.push(resolve));
      },
      died: (client, isHoldingRow) => {
        if (isHoldingRow) cut(client);
        else this.corpses.push(client);
        onDeath();
      },
    };
    return scene;
  }
}

/** The world around one attempt, which knows the number of its claim within the round. */
interface AttemptScene extends Scene {
  claim: number;
  stopRenewals: () => void;
}

function isStrict(strategy: ClaimStrategy): boolean {
  return strategy.kind === 'transaction' && strategy.isolation !== 'READ COMMITTED';
}

/** Whether a transaction was begun that asked for its operation's lock in vain. */
function isRefused(answer: unknown): boolean {
  return Array.isArray(answer) && (answer.at(-1) as QueryResult).rowCount === 0;
}

function letPass({ send }: Passing): Promise<unknown> {
  return send();
}

function verdictFor(choices: Choices, execution: string): Verdict {
  const recording = { headers: [], body: Buffer.from(execution), omitted: null, resource: null };
  if (choices.chance(0.05)) return { kind: 'release' };
  if (choices.chance(0.03)) return { kind: 'refuse', recording: { ...recording, status: 422 } };
  return { kind: 'commit', recording: { ...recording, status: 201 } };
}

function executionIn({ body }: Recording): string {
  return Buffer.from(body ?? []).toString();
}

async function within<T>(limitMs: number, awaited: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} was not over within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([awaited, late]);
  } finally {
    clearTimeout(timer);
  }
}
