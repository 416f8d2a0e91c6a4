import { setTimeout } from 'node:timers/promises';
import { EMPTY, lastValueFrom, of } from 'rxjs';
import { gaveWay, IdempotencyError, outcomeUnknown, stepRefused, storeUnavailable, workBroken, } from '../core/errors.js';
import { pauseMs } from '../core/patience.js';
import { refusalOf } from '../core/refusal.js';
import { StepRefusedError } from '../core/steps.js';
import { judge } from '../http/judge.js';
import { recordingOf } from '../http/recording-of.js';
import { answerWith } from '../http/returned-value.js';
import { holdResponse } from '../http/wire/held-response.js';
import { isConflict } from '../storage/postgres-errors.js';
import { currentAttempt, runInAttempt, runOutsideAttempts } from './attempt-context.js';
import { HandlerRun } from './handler-run.js';
import { RunningOperation } from './running-operation.js';
const NOTHING = Symbol('nothing');
export class HttpRun {
    constructor(execution, call, providerKeySecret, problems, replays, report) {
        this.execution = execution;
        this.call = call;
        this.providerKeySecret = providerKeySecret;
        this.problems = problems;
        this.replays = replays;
        this.report = report;
        this.held = null;
        this.isRunning = false;
        this.hasEntered = false;
        this.isForeign = false;
        this.foreignStatus = null;
        this.isAnswered = false;
        this.outcome = null;
        this.errorRule = (error, status) => {
            const ruled = this.endpoint.errors?.(error, status);
            return ruled === undefined && this.execution.steps.isPassing(error) ? 'release' : ruled;
        };
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
    get canRunAgain() {
        return !this.isRunning && !this.isOver && !this.isForeign;
    }
    get isOver() {
        return this.isAnswered || this.execution.isSettling;
    }
    entered() {
        if (this.isForeign && !this.hasEntered) {
            throw workBroken('The request was answered before its handler was entered; the handler is not run.');
        }
        this.hasEntered = true;
    }
    async run(next) {
        const conflictRetries = this.endpoint.isManual ? 0 : this.endpoint.conflictRetries;
        const checkpoint = conflictRetries > 0 ? this.exchange.checkpoint() : null;
        for (let tries = 0;; tries++) {
            try {
                return await this.runOnce(next);
            }
            catch (error) {
                if (tries === conflictRetries || !isConflict(error) || !checkpoint?.isReachable)
                    throw this.thrown(error);
                if (this.canRunAgain)
                    await setTimeout(pauseMs(tries));
                if (!this.canRunAgain)
                    throw this.thrown(error);
                checkpoint.restore();
            }
        }
    }
    async runOnce(next) {
        this.isRunning = true;
        this.outcome = null;
        this.hasEntered = false;
        const { execution, providerKeySecret } = this;
        const operation = new RunningOperation(execution, { ...this.endpoint, providerKeySecret });
        const run = new HandlerRun(this, execution, operation, this.endpoint.wrapper, () => this.entered());
        try {
            this.exchange.withdraw();
            this.hold().handlerStarted();
            await operation.start();
            const value = await runInAttempt(run, () => lastValueFrom(next.handle(), { defaultValue: NOTHING }));
            await this.returned(value, operation);
            return value === NOTHING ? EMPTY : of(value);
        }
        catch (thrown) {
            operation.end();
            const error = await this.accountedFor(thrown);
            await this.threw(error);
            throw error;
        }
        finally {
            this.isRunning = false;
        }
    }
    hold() {
        if (this.held)
            return this.held;
        this.held = holdResponse(this.exchange.response, this);
        this.exchange.holdWith(this.held);
        return this.held;
    }
    async returned(value, operation) {
        if (!this.isOver)
            await operation.seal();
        this.outcome = { kind: 'returned', status: this.exchange.status() };
        this.held.handlerReturned();
        if (this.isForeign)
            await this.settle(this.lateAnswer(value));
    }
    async accountedFor(error) {
        if (!(error instanceof StepRefusedError))
            return error;
        const { steps } = this.execution;
        await steps.idle();
        return steps.hasSucceeded ? refusedTooLate(error) : error;
    }
    async threw(error) {
        this.outcome = {
            kind: 'threw',
            error,
            hasEntered: this.hasEntered,
            isConflict: isConflict(error) || this.execution.metConflict,
        };
        if (!this.held)
            await this.execution.settle({ kind: 'release' });
        if (!this.isOver)
            await this.execution.rollback();
        this.held?.handlerThrew(error);
        if (this.isForeign)
            await this.settle({ kind: 'unseen' });
    }
    get ownStatus() {
        const { foreignStatus, initialStatus } = this;
        if (foreignStatus === null)
            return initialStatus;
        const status = this.exchange.status();
        return status === foreignStatus ? initialStatus : status;
    }
    lateAnswer(value) {
        if (this.initialHeaders === null)
            return { kind: 'unseen' };
        return answerWith(value === NOTHING ? undefined : value, {
            textType: this.exchange.textType,
            toJson: (object) => this.exchange.toJson(object),
            status: this.ownStatus,
            headers: headerLines(this.initialHeaders),
            limitBytes: this.limitBytes,
        });
    }
    thrown(error) {
        if (error instanceof StepRefusedError)
            return this.problems.exception(stepRefused(error.step, error), this.exchange);
        if (isConflict(error))
            return this.problems.exception(gaveWay(error), this.exchange);
        return error instanceof IdempotencyError ? this.problems.exception(error, this.exchange) : error;
    }
    isFromAttempt() {
        return currentAttempt()?.owner === this;
    }
    onWorkOver() {
        this.execution.seal().catch(() => undefined);
    }
    onForeign() {
        this.isForeign = true;
        this.foreignStatus = this.exchange.status();
        if (!this.hasEntered)
            void this.execution.settle({ kind: 'release' });
    }
    onAnswer(answer) {
        this.isAnswered = true;
        if (this.isChosen(answer))
            this.outcome = { kind: 'returned', status: answer.status };
        runOutsideAttempts(() => void this.settle(answer));
    }
    async settle(answer) {
        let settled = answer;
        const verdict = await this.verdictOn(answer).catch((error) => {
            this.report('An answer could not be recorded as its endpoint asks; the work is undone.', error);
            settled = { kind: 'broken', reason: 'unrecordable' };
            return { kind: 'release' };
        });
        if (this.isPremature(answer))
            settled = { kind: 'broken', reason: 'undecided' };
        const fate = await this.execution.settle(verdict);
        if (this.isForeign)
            return;
        try {
            await this.tell(settled, fate);
        }
        catch (error) {
            this.report('An answer could not be written; its connection is closed.', error);
            this.exchange.request.socket.destroy();
        }
    }
    async verdictOn(answer) {
        const isUntold = answer.kind === 'unseen' && this.outcome?.kind === 'threw';
        if (answer.kind === 'broken' || isUntold || this.execution.steps.hasUnknown)
            return { kind: 'release' };
        const { keeping } = this.endpoint;
        const status = answer.kind === 'unseen' ? this.ownStatus : answer.status;
        const kind = judge(this.outcome ?? { kind: 'returned', status }, status, this.errorRule);
        if (kind === 'release')
            return { kind };
        return { kind, recording: await recordingOf(answer, status, keeping, this.execution.attempt.operation) };
    }
    isPremature(answer) {
        if (!this.execution.steps.hasUnknown || !('status' in answer) || answer.status >= 500)
            return false;
        return !(this.outcome?.kind === 'threw' && this.outcome.error instanceof IdempotencyError);
    }
    isChosen(answer) {
        return 'status' in answer && this.outcome?.kind !== 'threw' && this.writesOwnResponse && this.isFromAttempt();
    }
    async tell(answer, fate) {
        const held = this.held;
        switch (fate.kind) {
            case 'recorded':
                return held.release();
            case 'released':
                return answer.kind === 'broken' ? held.discard(this.problem(brokenOff(answer.reason))) : held.release();
            case 'failed':
                return held.discard(this.problem(this.failed(fate.cause)));
            case 'lost': {
                const { decision } = fate;
                if (decision.kind !== 'replay')
                    return held.discard(this.problem(refusalOf(decision)));
                return held.discard(await this.replays.lateAnswerOf(decision.recording, this.execution.attempt.operation, this.call));
            }
            case 'unknown':
                return held.discard(this.problem(storeUnavailable(fate.cause)));
        }
    }
    failed(cause) {
        if (cause instanceof IdempotencyError)
            return cause;
        if (isConflict(cause))
            return gaveWay(cause);
        const { endpoint } = this.execution.attempt.operation;
        this.report(`The work of ${endpoint} could not be committed; everything it wrote was undone.`, cause);
        return workBroken('The work could not be committed; everything it wrote was undone.', cause);
    }
    problem(error) {
        return this.problems.answer(error, this.exchange);
    }
}
function refusedTooLate(error) {
    return workBroken(`The step '${error.step}' was refused when another one of the operation had succeeded. Catch StepRefusedError, ` +
        'undo by further steps what was done, and answer with an error of your own.', error);
}
function brokenOff(reason) {
    switch (reason) {
        case 'undecided':
            return outcomeUnknown();
        case 'unrecordable':
            return workBroken('The answer could not be recorded; everything the work wrote was undone.');
        default:
            return workBroken('The answer broke off before it was complete; everything the work wrote was undone.');
    }
}
function headerLines(headers) {
    return Object.entries(headers).flatMap(([name, value]) => [value ?? []].flat().map((line) => [name, String(line)]));
}
