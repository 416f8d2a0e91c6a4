import { AsyncResource } from 'node:async_hooks';
import { setTimeout } from 'node:timers/promises';

import type { EntityManager } from 'typeorm';

import { workBroken } from '../core/errors.js';
import type { Execution } from '../core/execution.js';
import { pauseMs } from '../core/patience.js';
import { providerKey } from '../core/provider-key.js';
import { failureOf } from '../core/step-failure.js';
import type { StepCall, StepTerms } from '../core/steps.js';
import type { JoinedTransactions } from '../storage/joined-transactions.js';
import { isConflict } from '../storage/postgres-errors.js';
import { noOpenManager } from './attempt-context.js';
import { milliseconds } from './duration.js';
import type { IdempotentOperation, StepOptions } from './idempotent-operation.js';

/** What every operation of the module has to work with. */
export interface OperationMeans {
  readonly providerKeySecret: string | undefined;
  /** Where transactions that are managed by other means join the operation's. */
  readonly joined: JoinedTransactions | undefined;
}

export interface OperationTerms extends OperationMeans {
  /** The handler opens its transaction itself. */
  readonly isManual: boolean;
  readonly conflictRetries: number;
}

const DEFAULT_DEADLINE = '20s';

/** As long as a key. */
const MAX_NAME_LENGTH = 255;

/** What the code of one run can do with its operation, and the transaction that it does it in. */
export class RunningOperation implements IdempotentOperation {
  /** The manager of the open transaction; null while there is none. */
  openManager: EntityManager | null = null;
  /** Steps are made before the commit is asked for, or after it has failed. */
  private phase: 'before_commit' | 'committing' | 'committed' = 'before_commit';
  /** The names of the steps that this run of the handler has made. */
  private readonly made = new Set<string>();
  private hasEnded = false;
  /** Registered while no transaction was open. */
  private readonly callbacks: (() => unknown)[] = [];
  /** What is called back belongs to neither the run nor a transaction that others believe to be open. */
  private readonly outside = new AsyncResource('IdempotentOperation');

  constructor(
    private readonly execution: Execution<EntityManager>,
    private readonly terms: OperationTerms,
  ) {}

  get tenant(): string {
    return this.execution.attempt.operation.tenant;
  }

  get endpoint(): string {
    return this.execution.attempt.operation.endpoint;
  }

  get key(): string {
    return this.execution.attempt.operation.key;
  }

  get attempts(): number {
    return this.execution.attempts;
  }

  get signal(): AbortSignal {
    return this.execution.signal;
  }

  get manager(): EntityManager {
    return this.openManager ?? noOpenManager();
  }

  /** The operation has come to its end, or is about to: nothing can be done in it any more. */
  get isOver(): boolean {
    return this.hasEnded || this.execution.isSettling;
  }

  /** Before the handler: opens its transaction, or leaves the connection to others for as long as none is needed. */
  async start(): Promise<void> {
    if (this.terms.isManual) this.execution.rest();
    else await this.begin();
  }

  /** Runs what writes in the transaction, where one is open: what is written by other means joins it. */
  async perform<Result>(work: () => Promise<Result> | Result): Promise<Result> {
    const { openManager } = this;
    const { joined } = this.terms;
    if (!joined || !openManager) return work();
    const committed = new Promise<boolean>((resolve) => this.execution.onWorkEnded(resolve));
    return joined.run(openManager, committed, work);
  }

  /** After the handler: nothing more can be written. Rejects where what was written cannot be committed. */
  async seal(): Promise<void> {
    if (this.execution.steps.isUnderWay) {
      // Nobody is to be let in before it is known what comes of the call, if that can be known.
      await this.execution.steps.idle();
      throw workBroken('The handler returned while a step was under way. Await it.');
    }
    if (this.phase === 'committing') {
      throw workBroken('The handler returned while `operation.commit()` was under way. Await it.');
    }
    if (this.terms.isManual && this.phase === 'before_commit') await this.begin();
    await this.execution.seal();
  }

  /** The run has failed: what is left of its code has no more say. */
  end(): void {
    this.hasEnded = true;
  }

  async step<Result>(
    name: string,
    call: (call: StepCall) => Promise<Result>,
    options: StepOptions<Result> = {},
  ): Promise<Result> {
    this.assertRunning();
    if (!this.terms.isManual) {
      throw workBroken(
        'A step was made while the transaction of the work was open, which would then be held for as long as the ' +
          "outside call takes. Declare the handler with `@Idempotent({ transaction: 'manual' })`.",
      );
    }
    if (this.phase !== 'before_commit' || this.execution.isWorking || this.execution.isSettling) {
      throw workBroken('A step was made inside or after `operation.commit()`. Make every step before it.');
    }
    if (this.made.has(name)) throw workBroken(`The step '${name}' was made already. Give each step a name of its own.`);
    const result = await this.execution.steps.run(name, call, this.termsOf(name, options));
    this.made.add(name);
    return result;
  }

  async commit<Result>(work: (manager: EntityManager) => Promise<Result>): Promise<Result> {
    this.assertRunning();
    if (!this.terms.isManual) {
      throw workBroken(
        "`operation.commit()` is for handlers with `transaction: 'manual'`; this one's work is one already.",
      );
    }
    if (this.phase !== 'before_commit' || this.execution.isWorking) {
      throw workBroken('`operation.commit()` was called twice.');
    }
    if (this.execution.steps.isUnderWay)
      throw workBroken('`operation.commit()` was called while a step was under way.');
    // Said before anything is awaited: a step that is made meanwhile would announce itself inside the transaction.
    this.phase = 'committing';
    for (let tries = 0; ; tries++) {
      try {
        await this.begin();
        const manager = this.openManager!;
        const value = await this.perform(() => work(manager));
        await this.execution.seal();
        this.phase = 'committed';
        return value;
      } catch (error) {
        this.openManager = null;
        await this.execution.rollback();
        if (tries === this.terms.conflictRetries || !isConflict(error)) {
          this.phase = 'before_commit';
          throw error;
        }
        await setTimeout(pauseMs(tries));
      }
    }
  }

  afterCommit(callback: () => unknown): void {
    this.assertRunning();
    const outside = (): unknown => this.outside.runInAsyncScope(callback);
    if (this.execution.isWorking) this.execution.afterCommit(outside);
    else this.callbacks.push(outside);
  }

  private assertRunning(): void {
    if (this.hasEnded) throw workBroken('The run of the handler that this code belongs to has failed and is over.');
  }

  private async begin(): Promise<void> {
    this.openManager = await this.execution.begin();
    for (const callback of this.callbacks) this.execution.afterCommit(callback);
  }

  private termsOf<Result>(name: string, options: StepOptions<Result>): StepTerms<Result> {
    const { attempt } = this.execution;
    const { deadlineMs, deadline = DEFAULT_DEADLINE, tries = 1, failure = failureOf, whenUnknown = 'repeat' } = options;
    if (name === '') throw workBroken('A step needs a name.');
    if (name.length > MAX_NAME_LENGTH || name.includes('\0')) {
      throw workBroken(
        `The name of a step has at most ${MAX_NAME_LENGTH} characters, and no NUL among them. Say in it what is done.`,
      );
    }
    if (!Number.isInteger(tries) || tries < 1)
      throw workBroken(`The step '${name}' needs a whole number of tries, at least 1.`);
    return {
      providerKey: providerKey(this.terms.providerKeySecret!, attempt.operation, attempt.fingerprint, name),
      deadlineMs: milliseconds('deadline', deadlineMs ?? deadline),
      maxTries: tries,
      pauseMs,
      judge: failure,
      whenUnknown,
    };
  }
}
