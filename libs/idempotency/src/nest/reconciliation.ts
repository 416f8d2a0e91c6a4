import { Injectable, Inject } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { EntityManager } from 'typeorm';

import { claimTerms } from '../core/attempt.js';
import { stepRefused } from '../core/errors.js';
import type { Execution } from '../core/execution.js';
import type { Executor } from '../core/executor.js';
import type { Observer } from '../core/observation.js';
import type { Backlog, Report } from '../core/ports.js';
import type { RecordedHeader, Recording } from '../core/recording.js';
import { StepRefusedError } from '../core/steps.js';
import { PROBLEM_TYPE, problemHeaders, problemOf } from '../http/problem.js';
import { recordingOf } from '../http/recording-of.js';
import type { WholeAnswer } from '../http/wire/wire-answer.js';
import { type Reconcile, type ReconciledEndpoint, Reconciler } from '../maintenance/reconciler.js';
import { runInAttempt } from './attempt-context.js';
import type { Endpoint, Endpoints } from './endpoints.js';
import { HandlerRun } from './handler-run.js';
import type { IdempotentOperation } from './idempotent-operation.js';
import { reconciledEndpoint, type ReconciledAnswer } from './reconciles.decorator.js';
import { type OperationMeans, RunningOperation } from './running-operation.js';
import type { ModuleSettings } from './settings.js';
import { BACKLOG, ENDPOINTS, EXECUTOR, OBSERVER, OPERATION_MEANS, REPORT, SETTINGS } from './tokens.js';

type Method = (operation: IdempotentOperation) => Promise<ReconciledAnswer | null> | ReconciledAnswer | null;

/** Runs the reconciler with the application's `@Reconciles()` methods. */
@Injectable()
export class Reconciliation {
  private reconciler: Reconciler<EntityManager> | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    @Inject(ENDPOINTS) private readonly endpoints: Endpoints,
    @Inject(SETTINGS) private readonly settings: ModuleSettings,
    @Inject(BACKLOG) private readonly backlog: Backlog,
    @Inject(EXECUTOR) private readonly executor: Executor<EntityManager>,
    @Inject(OBSERVER) private readonly observer: Observer,
    @Inject(OPERATION_MEANS) private readonly means: OperationMeans,
    @Inject(REPORT) private readonly report: Report,
  ) {}

  /** @throws {Error} naming the method, where its endpoint is none that makes steps under a name. */
  start(): void {
    const endpoints = this.reconciledEndpoints();
    const { backlog, executor, observer, report } = this;
    const { reconcileAfterMs, reconcileEveryMs, renewForMs } = this.settings;
    this.reconciler = new Reconciler(backlog, executor, endpoints, reconcileAfterMs, renewForMs, observer, report);
    if (endpoints.size > 0) this.timer = setInterval(() => void this.reconcileDue(), reconcileEveryMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Resolves to how many operations were settled; never rejects. */
  async reconcileDue(): Promise<number> {
    return this.reconciler?.reconcileDue() ?? 0;
  }

  private reconciledEndpoints(): ReadonlyMap<string, ReconciledEndpoint<EntityManager>> {
    const found = new Map<string, ReconciledEndpoint<EntityManager>>();
    for (const [owner, name, instance, method, of] of this.methods()) {
      const endpoint = this.endpoints.named(of);
      if (!endpoint?.isManual) {
        throw new Error(
          `${owner}.${name} reconciles '${of}', and there is no handler with \`@Idempotent({ endpoint: '${of}', ` +
            "transaction: 'manual' })`. Give the handler that name.",
        );
      }
      found.set(of, { terms: claimTerms(endpoint), reconcile: this.reconcile(endpoint, method.bind(instance)) });
    }
    return found;
  }

  private *methods(): Generator<[owner: string, name: string, instance: object, method: Method, endpoint: string]> {
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (!metatype || typeof instance !== 'object' || instance === null) continue;
      const prototype = Object.getPrototypeOf(instance) as Record<string, Method>;
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const method = prototype[name]!;
        const endpoint = reconciledEndpoint(method);
        if (endpoint !== undefined) yield [metatype.name, name, instance as object, method, endpoint];
      }
    }
  }

  private reconcile(endpoint: Endpoint, method: Method): Reconcile<EntityManager> {
    const { problems } = this.settings;
    return async (execution) => {
      const handle = new RunningOperation(execution, { ...endpoint, ...this.means });
      await handle.start();
      try {
        const run = new HandlerRun(this, execution, handle);
        const answer = await runInAttempt(run, () => execution.working(async () => method(handle)));
        if (!answer) return { kind: 'release', ending: { outcome: 'undecided' } };
        await handle.seal();
        return { kind: 'commit', recording: await recorded(asWhole(answer), endpoint, execution) };
      } catch (error) {
        if (!(error instanceof StepRefusedError)) throw error;
        await execution.steps.idle();
        // What else has happened outside is for the method to undo, or to write down.
        if (execution.steps.hasSucceeded) throw error;
        const refused = stepRefused(error.step, error);
        const problem = problemOf(refused, problems);
        const headers: RecordedHeader[] = [['Content-Type', PROBLEM_TYPE], ...problemHeaders(problem, problems)];
        const refusal: WholeAnswer = { kind: 'whole', status: problem.status, headers, body: json(problem) };
        return { kind: 'refuse', recording: await recorded(refusal, endpoint, execution), error: refused.code };
      }
    };
  }
}

function recorded(
  answer: WholeAnswer,
  { keeping }: Endpoint,
  { attempt }: Execution<EntityManager>,
): Promise<Recording> {
  return recordingOf(answer, answer.status, keeping, attempt.operation);
}

function asWhole({ status, body, location }: ReconciledAnswer): WholeAnswer {
  const headers: RecordedHeader[] = location === undefined ? [] : [['Location', location]];
  if (body === undefined) return { kind: 'whole', status, headers, body: null };
  headers.push(['Content-Type', 'application/json; charset=utf-8']);
  return { kind: 'whole', status, headers, body: json(body) };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}
