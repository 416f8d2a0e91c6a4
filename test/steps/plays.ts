import { Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import {
  Idempotent,
  type IdempotentOperation,
  IdempotentOperations,
  Operation,
  type ReconciledAnswer,
  Reconciles,
  type StepCall,
} from 'nestjs-idempotency';

import { createTestDatabase } from '../database/test-database.js';
import { prepareDatabase, startWorkApp, type WorkApp, type WorkAppOptions } from '../module/work-app.js';

/** What a handler with steps does. */
export type Play = (operation: IdempotentOperation) => Promise<unknown>;
export type Reconciling = (operation: IdempotentOperation) => Promise<ReconciledAnswer | null>;

const plays = new Map<string, Play>();
const reconcilings = new Map<string, Reconciling>();

@Controller()
class PlaysController {
  @Post('plays')
  @HttpCode(201)
  @Idempotent({ endpoint: 'plays', transaction: 'manual' })
  play(@Operation() operation: IdempotentOperation): Promise<unknown> {
    return plays.get(operation.key)!(operation);
  }
}

@Injectable()
class PlaysReconciler {
  @Reconciles('plays')
  reconcile(operation: IdempotentOperation): Promise<ReconciledAnswer | null> | null {
    return reconcilings.get(operation.key)?.(operation) ?? null;
  }
}

/** The answer to a play, its body read. */
export interface PlayAnswer {
  readonly status: number;
  readonly isReplay: boolean;
  readonly retryAfter: string | null;
  readonly body: Record<string, unknown>;
}

export interface StepRow {
  readonly name: string;
  readonly provider_key: string;
  readonly tries: number;
  readonly result: string | null;
}

/** An application with one route, whose handler does what each test asks of it. */
export class Stage {
  private constructor(
    readonly app: WorkApp,
    readonly url: string,
    private readonly end: () => Promise<void>,
  ) {}

  /** On a database of its own, or on one that another stage has. */
  static async open(options: Omit<WorkAppOptions, 'url'> & { readonly url?: string } = {}): Promise<Stage> {
    let { url } = options;
    let drop = (): Promise<void> => Promise.resolve();
    if (url === undefined) {
      const database = await createTestDatabase();
      ({ url } = database);
      ({ drop } = database);
      await prepareDatabase(url);
    }
    const app = await startWorkApp({
      ...options,
      url,
      idempotency: {
        providerKeySecret: 'the secret of the tests',
        reconcileAfterMs: 1,
        reconcileEvery: '1d',
        ...options.idempotency,
      },
      module: {
        controllers: [PlaysController, ...(options.module?.controllers ?? [])],
        providers: [PlaysReconciler, ...(options.module?.providers ?? [])],
      },
    });
    return new Stage(app, url, async () => {
      await app.stop();
      await drop();
    });
  }

  close(): Promise<void> {
    return this.end();
  }

  get operations(): IdempotentOperations {
    return this.app.app.get(IdempotentOperations);
  }

  /** Sends a request whose handler does this. */
  async play(key: string, play: Play, body: object = {}): Promise<PlayAnswer> {
    plays.set(key, play);
    const answer = await this.app.post('/plays', { key, body });
    return {
      status: answer.status,
      isReplay: answer.headers.get('Idempotent-Replayed') === 'true',
      retryAfter: answer.headers.get('Retry-After'),
      body: JSON.parse(answer.body) as Record<string, unknown>,
    };
  }

  /** Has an operation reconciled so. */
  reconcileBy(key: string, reconciling: Reconciling): void {
    reconcilings.set(key, reconciling);
  }

  steps(key: string): Promise<StepRow[]> {
    return this.app.witness.rows(
      'SELECT name, provider_key, tries, result FROM idempotency_steps WHERE key = $1 ORDER BY name',
      key,
    );
  }

  async record(key: string): Promise<{ state: string; has_steps: boolean; is_live: boolean | null } | undefined> {
    const [row] = await this.app.witness.rows<{ state: string; has_steps: boolean; is_live: boolean | null }>(
      'SELECT state, has_steps, locked_until > now() AS is_live FROM idempotency_records WHERE key = $1',
      key,
    );
    return row;
  }

  /** Lets an hour pass for an operation in progress. */
  async pass(key: string): Promise<void> {
    const { witness } = this.app;
    await witness.rows(
      `UPDATE idempotency_records SET locked_until = locked_until - interval '1 hour' WHERE key = $1 AND state = 'in_progress'`,
      key,
    );
    await witness.rows(
      `UPDATE idempotency_steps SET intended_at = intended_at - interval '1 hour' WHERE key = $1`,
      key,
    );
  }
}

export class Failed extends Error {
  constructor(readonly status: number) {
    super(`The provider answered ${status}.`);
  }
}

/** The other side of a step: what it was called with, and what it answers; a number is a status that it fails with. */
export class Callee {
  readonly calls: StepCall[] = [];
  private readonly answers: (string | number)[];

  constructor(...answers: (string | number)[]) {
    this.answers = answers;
  }

  readonly call = (call: StepCall): Promise<string> => {
    this.calls.push(call);
    const answer = this.answers[Math.min(this.calls.length, this.answers.length) - 1]!;
    return typeof answer === 'number' ? Promise.reject(new Failed(answer)) : Promise.resolve(answer);
  };
}
