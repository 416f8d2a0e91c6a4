import { AsyncResource } from 'node:async_hooks';
import type { OutgoingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';

import type { CallHandler } from '@nestjs/common';
import { EMPTY, lastValueFrom, type Observable, of } from 'rxjs';
import type { EntityManager } from 'typeorm';

import { gaveWay, IdempotencyError, outcomeUnknown, storeUnavailable, workBroken } from '../core/errors.js';
import type { Execution, Fate, Verdict } from '../core/execution.js';
import { type Ending, endingOf } from '../core/outcome.js';
import { pauseMs } from '../core/patience.js';
import type { Report } from '../core/ports.js';
import type { RecordedHeader } from '../core/recording.js';
import { refusalOf } from '../core/refusal.js';
import { StepRefusedError, toldOf } from '../core/steps.js';
import { type ErrorRule, judge, type WorkOutcome } from '../http/judge.js';
import { recordingOf } from '../http/recording-of.js';
import { answerWith } from '../http/returned-value.js';
import { holdResponse } from '../http/wire/held-response.js';
import type { BreakOff, Held, HoldOptions, OwnAnswer, WireAnswer } from '../http/wire/wire-answer.js';
import { isConflict } from '../storage/postgres-errors.js';
import { currentAttempt, runInAttempt } from './attempt-context.js';
import type { Endpoint } from './endpoints.js';
import { HandlerRun } from './handler-run.js';
import type { HttpCall } from './http-call.js';
import type { HttpExchange } from './http-exchange.js';
import type { Problems } from './problems.js';
import type { Replays } from './replays.js';
import { type OperationMeans, RunningOperation } from './running-operation.js';

const NOTHING = Symbol('nothing');

/**
 * One claimed request: the handler on one side, the held response on the other, the execution between them.
 *
 * The handler's end seals the work, or rolls it back. The answer's end settles it. Whichever comes last decides when.
 */
export class HttpRun implements HoldOptions {
  readonly writesOwnResponse: boolean;
  readonly declaredHeaders: readonly string[];
  readonly extraHeaders: OutgoingHttpHeaders;
  readonly limitBytes: number;
  private readonly endpoint: Endpoint;
  private readonly exchange: HttpExchange;
  private held: Held | null = null;
  private isRunning = false;
  private hasEntered = false;
  private isForeign = false;
  /** The status that somebody else answered with. */
  private foreignStatus: number | null = null;
  /** The answer is known and being settled: what the handler still does changes nothing any more. */
  private isAnswered = false;
  private outcome: WorkOutcome | null = null;
  /** A handler that writes its answer itself does so in the midst of what it has opened. */
  private readonly outside = new AsyncResource('HttpRun');
  /** What Nest gave the answer before the handler ran. */
  private readonly initialStatus: number;
  private readonly initialHeaders: OutgoingHttpHeaders | null;

  constructor(
    private readonly execution: Execution<EntityManager>,
    private readonly call: HttpCall,
    private readonly means: OperationMeans,
    private readonly problems: Problems,
    private readonly replays: Replays,
    private readonly report: Report,
  ) {
    const { endpoint, exchange } = call;
    this.endpoint = endpoint;
    this.exchange = exchange;
    this.writesOwnResponse = endpoint.writesOwnResponse;
    this.declaredHeaders = endpoint.declaredHeaders;
    this.limitBytes = endpoint.keeping.limitBytes;
    this.extraHeaders = exchange.pendingHeaders();
    this.initialStatus = exchange.status();
    this.initialHeaders = endpoint.lateAnswer === 'value' ? exchange.headers() : null;
  }

  /** The handler failed and nothing has been settled: it may be run once more under the same claim. */
  get canRunAgain(): boolean {
    return !this.isRunning && !this.isOver && !this.isForeign;
  }

  private get isOver(): boolean {
    return this.isAnswered || this.execution.isSettling;
  }

  private entered(): void {
    if (this.isForeign && !this.hasEntered) {
      throw workBroken('The request was answered before its handler was entered; the handler is not run.');
    }
    this.hasEntered = true;
  }

  /**
   * Runs everything inside our interceptor in a transaction; its last value is the result.
   *
   * Work that had to give way to other transactions is run again, as often as the endpoint allows.
   */
  async run(next: CallHandler): Promise<Observable<unknown>> {
    // Where the handler opens its transaction itself, that is what is tried again.
    const conflictRetries = this.endpoint.isManual ? 0 : this.endpoint.conflictRetries;
    const checkpoint = conflictRetries > 0 ? this.exchange.checkpoint() : null;
    for (let tries = 0; ; tries++) {
      try {
        return await this.runOnce(next);
      } catch (error) {
        if (tries === conflictRetries || !isConflict(error) || !checkpoint?.isReachable) throw this.thrown(error);
        if (this.canRunAgain) await setTimeout(pauseMs(tries));
        if (!this.canRunAgain) throw this.thrown(error);
        checkpoint.restore();
      }
    }
  }

  private async runOnce(next: CallHandler): Promise<Observable<unknown>> {
    this.isRunning = true;
    this.outcome = null;
    this.hasEntered = false;
    const { execution, means } = this;
    const operation = new RunningOperation(execution, { ...this.endpoint, ...means });
    const run = new HandlerRun(this, execution, operation, this.endpoint.wrapper, () => this.entered());
    try {
      this.exchange.withdraw();
      // Held before it begins: whoever answers from here on, and is not the handler, answers for himself.
      this.hold().handlerStarted();
      await operation.start();
      const handle = () => lastValueFrom(next.handle() as Observable<unknown>, { defaultValue: NOTHING });
      const value = await runInAttempt(run, () => execution.working(() => operation.perform(handle)));
      await this.returned(value, operation);
      return value === NOTHING ? EMPTY : of(value);
    } catch (thrown) {
      operation.end();
      const error = await this.accountedFor(thrown);
      await this.threw(error);
      throw error;
    } finally {
      this.isRunning = false;
    }
  }

  private hold(): Held {
    if (this.held) return this.held;
    this.held = holdResponse(this.exchange.response, this);
    this.exchange.holdWith(this.held);
    return this.held;
  }

  private async returned(value: unknown, operation: RunningOperation): Promise<void> {
    if (!this.isOver) await operation.seal();
    this.outcome = { kind: 'returned', status: this.exchange.status() };
    this.held!.handlerReturned();
    if (this.isForeign) await this.settle(this.lateAnswer(value));
  }

  /** A refusal ends the operation only where nothing else has happened outside. */
  private async accountedFor(error: unknown): Promise<unknown> {
    if (!(error instanceof StepRefusedError)) return error;
    const { steps } = this.execution;
    // One beside it may succeed yet.
    await steps.idle();
    return steps.hasSucceeded ? refusedTooLate(error) : error;
  }

  private async threw(error: unknown): Promise<void> {
    this.outcome = {
      kind: 'threw',
      error,
      hasEntered: this.hasEntered,
      isConflict: isConflict(error) || this.execution.metConflict,
    };
    if (!this.held) await this.execution.settle({ kind: 'release', ending: endingOf(error, 'not_entered') });
    if (!this.isOver) await this.execution.rollback();
    this.held?.handlerThrew(error);
    if (this.isForeign) await this.settle({ kind: 'unseen' });
  }

  /** The status of an answer that never went out: what the handler set since, or what it had before. */
  private get ownStatus(): number {
    const { foreignStatus, initialStatus } = this;
    if (foreignStatus === null) return initialStatus;
    const status = this.exchange.status();
    return status === foreignStatus ? initialStatus : status;
  }

  /** What is recorded of work that returned when somebody else had answered already. */
  private lateAnswer(value: unknown): WireAnswer {
    if (this.initialHeaders === null) return { kind: 'unseen' };
    return answerWith(value === NOTHING ? undefined : value, {
      textType: this.exchange.textType,
      toJson: (object) => this.exchange.toJson(object),
      status: this.ownStatus,
      headers: headerLines(this.initialHeaders),
      limitBytes: this.limitBytes,
    });
  }

  /** The error the application's filters get to see. */
  private thrown(error: unknown): unknown {
    const told = isConflict(error) ? gaveWay(error) : toldOf(error);
    return told instanceof IdempotencyError ? this.problems.exception(told, this.exchange) : told;
  }

  isFromAttempt(): boolean {
    return currentAttempt()?.owner === this;
  }

  onWorkOver(): void {
    // Where it cannot be sealed, settling finds out.
    this.execution.seal().catch(() => undefined);
  }

  onForeign(): void {
    this.isForeign = true;
    this.foreignStatus = this.exchange.status();
    if (!this.hasEntered) void this.execution.settle({ kind: 'release', ending: { outcome: 'not_entered' } });
  }

  onAnswer(answer: WireAnswer): void {
    this.isAnswered = true;
    if (this.isChosen(answer)) this.outcome = { kind: 'returned', status: answer.status };
    this.outside.runInAsyncScope(() => void this.settle(answer));
  }

  private async settle(answer: WireAnswer): Promise<void> {
    let settled = answer;
    const verdict = await this.verdictOn(answer).catch((error: unknown): Verdict => {
      this.report('An answer could not be recorded as its endpoint asks; the work is undone.', error);
      settled = { kind: 'broken', reason: 'unrecordable' };
      return { kind: 'release', ending: this.endingOf(settled) };
    });
    if (this.isPremature(answer)) settled = { kind: 'broken', reason: 'undecided' };
    const fate = await this.execution.settle(verdict);
    if (this.isForeign) return;
    try {
      await this.tell(settled, fate);
    } catch (error) {
      // Whatever stands beneath the response could not write it; nobody is left to be told but the client's socket.
      this.report('An answer could not be written; its connection is closed.', error);
      this.exchange.request.socket.destroy();
    }
  }

  private async verdictOn(answer: WireAnswer): Promise<Verdict> {
    // What was undone and answered by nobody, or by somebody else, is not to be told as done.
    const isUntold = answer.kind === 'unseen' && this.outcome?.kind === 'threw';
    if (answer.kind === 'broken' || isUntold || this.execution.steps.hasUnknown) {
      return { kind: 'release', ending: this.endingOf(answer) };
    }
    const { keeping } = this.endpoint;
    const status = answer.kind === 'unseen' ? this.ownStatus : answer.status;
    const kind = judge(this.outcome ?? { kind: 'returned', status }, status, this.errorRule);
    if (kind === 'release') return { kind, ending: this.endingOf(answer) };
    const recording = await recordingOf(answer, status, keeping, this.execution.attempt.operation);
    if (kind === 'commit') return { kind, recording };
    const { error } = endingOf(this.thrownError, 'refused');
    return { kind, recording, ...(error && { error }) };
  }

  /** What the request has come to whose work is undone, and not recorded. */
  private endingOf(answer: WireAnswer): Ending {
    const { outcome, thrownError } = this;
    if (thrownError instanceof IdempotencyError) return endingOf(thrownError, 'failed');
    if (this.execution.steps.hasUnknown) return endingOf(outcomeUnknown(), 'failed');
    if (answer.kind === 'broken') return endingOf(brokenOff(answer.reason), 'failed');
    if (outcome?.kind !== 'threw') return { outcome: 'failed' };
    if (!outcome.hasEntered) return { outcome: 'not_entered' };
    if (outcome.isConflict) return endingOf(gaveWay(outcome.error), 'failed');
    return { outcome: 'status' in answer && answer.status < 500 ? 'refused' : 'failed' };
  }

  /** What the handler threw, as the library would tell it; undefined where it did not throw. */
  private get thrownError(): unknown {
    if (this.outcome?.kind !== 'threw') return undefined;
    return toldOf(this.outcome.error);
  }

  /** The endpoint's; where that says nothing, a call that had no effect is no reason to refuse for good. */
  private readonly errorRule: ErrorRule = (error, status) => {
    const ruled = this.endpoint.errors?.(error, status);
    return ruled === undefined && this.execution.steps.isPassing(error) ? 'release' : ruled;
  };

  /** Whether an answer tells of an end, while it is not known whether an outside call has happened. */
  private isPremature(answer: WireAnswer): boolean {
    if (!this.execution.steps.hasUnknown || !('status' in answer) || answer.status >= 500) return false;
    return !(this.outcome?.kind === 'threw' && this.outcome.error instanceof IdempotencyError);
  }

  /** Whether a route that writes its own response has done so, in its own time: then its status is what it chose. */
  private isChosen(answer: WireAnswer): answer is Extract<WireAnswer, { status: number }> {
    return 'status' in answer && this.outcome?.kind !== 'threw' && this.writesOwnResponse && this.isFromAttempt();
  }

  /** Answers the client by what has become of the work, and never before that. */
  private async tell(answer: WireAnswer, fate: Fate): Promise<void> {
    const held = this.held!;
    switch (fate.kind) {
      case 'recorded':
        return held.release();
      case 'released':
        return answer.kind === 'broken' ? held.discard(this.problem(brokenOff(answer.reason))) : held.release();
      case 'failed':
        return held.discard(this.problem(this.failed(fate.cause)));
      case 'lost': {
        const { decision } = fate;
        if (decision.kind !== 'replay') return held.discard(this.problem(refusalOf(decision)));
        return held.discard(
          await this.replays.lateAnswerOf(decision.recording, this.execution.attempt.operation, this.call),
        );
      }
      case 'unknown':
        return held.discard(this.problem(storeUnavailable(fate.cause)));
    }
  }

  private failed(cause: unknown): IdempotencyError {
    if (cause instanceof IdempotencyError) return cause;
    if (isConflict(cause)) return gaveWay(cause);
    // The client is not shown what the database said, such as of a constraint that was deferred to the commit.
    const { endpoint } = this.execution.attempt.operation;
    this.report(`The work of ${endpoint} could not be committed; everything it wrote was undone.`, cause);
    return workBroken('The work could not be committed; everything it wrote was undone.', cause);
  }

  private problem(error: IdempotencyError): OwnAnswer {
    return this.problems.answer(error, this.exchange);
  }
}

function refusedTooLate(error: StepRefusedError): IdempotencyError {
  return workBroken(
    `The step '${error.step}' was refused when another one of the operation had succeeded. Catch StepRefusedError, ` +
      'undo by further steps what was done, and answer with an error of your own.',
    error,
  );
}

function brokenOff(reason: BreakOff): IdempotencyError {
  switch (reason) {
    case 'undecided':
      return outcomeUnknown();
    case 'unrecordable':
      return workBroken('The answer could not be recorded; everything the work wrote was undone.');
    default:
      return workBroken('The answer broke off before it was complete; everything the work wrote was undone.');
  }
}

/** One line a value, as headers are recorded. */
function headerLines(headers: OutgoingHttpHeaders): RecordedHeader[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((line): RecordedHeader => [name, String(line)]),
  );
}
