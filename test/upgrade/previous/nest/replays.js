import { HttpException } from '@nestjs/common';
import { openBody } from '../core/body-protection.js';
import { IdempotencyError } from '../core/errors.js';
import { replayForbidden, responseUnavailable } from '../core/refusal.js';
import { replayOf } from '../http/wire/replay.js';
export class Replays {
    constructor(problems, report) {
        this.problems = problems;
        this.report = report;
    }
    async answerOf(recording, operation, { endpoint, context }) {
        const { authorizeReplay, keeping } = endpoint;
        const { status, resource, omitted } = recording;
        if (authorizeReplay && (await authorizeReplay(context, { operation, status, resource })) !== true) {
            throw replayForbidden();
        }
        if (omitted !== null)
            throw responseUnavailable(resource);
        try {
            return replayOf({ ...recording, body: await openBody(recording, keeping.protection, operation) });
        }
        catch (error) {
            this.report('A recording could not be decrypted, and so not be replayed.', error);
            throw responseUnavailable(resource, error);
        }
    }
    async lateAnswerOf(recording, operation, call) {
        try {
            return await this.answerOf(recording, operation, call);
        }
        catch (error) {
            if (error instanceof IdempotencyError)
                return this.problems.answer(error, call.exchange);
            if (!(error instanceof HttpException))
                this.report('authorizeReplay() failed; the replay was refused.', error);
            return this.problems.answer(replayForbidden(), call.exchange);
        }
    }
}
