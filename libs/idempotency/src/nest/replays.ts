import { HttpException } from '@nestjs/common';

import { openBody } from '../core/body-protection.js';
import { IdempotencyError } from '../core/errors.js';
import type { Operation } from '../core/operation.js';
import type { Report } from '../core/ports.js';
import type { Recording } from '../core/recording.js';
import { assertKept, replayForbidden, responseUnavailable } from '../core/refusal.js';
import { replayOf } from '../http/wire/replay.js';
import type { OwnAnswer } from '../http/wire/wire-answer.js';
import type { HttpCall } from './http-call.js';
import type { Problems } from './problems.js';

/** Turns recordings into the answers of their retries. */
export class Replays {
  constructor(
    private readonly problems: Problems,
    private readonly report: Report,
  ) {}

  /**
   * The answer that gives a recording back.
   *
   * Rejects with `idempotency-replay-forbidden` or the exception of `authorizeReplay` where this caller may not have
   * it, with `idempotency-response-unavailable` where its body was not kept or cannot be decrypted, and with
   * `idempotency-key-expired` where nothing but a tombstone is left.
   */
  async answerOf(recording: Recording, operation: Operation, { endpoint, context }: HttpCall): Promise<OwnAnswer> {
    const { authorizeReplay, keeping } = endpoint;
    const { status, resource } = recording;
    if (authorizeReplay && (await authorizeReplay(context, { operation, status, resource })) !== true) {
      throw replayForbidden();
    }
    assertKept(recording);
    try {
      return replayOf({ ...recording, body: await openBody(recording, keeping.protection, operation) });
    } catch (error) {
      this.report('A recording could not be decrypted, and so not be replayed.', error, operation);
      throw responseUnavailable(recording, error);
    }
  }

  /** The same for when the application's filters have already run: a refusal is an answer as well. */
  async lateAnswerOf(recording: Recording, operation: Operation, call: HttpCall): Promise<OwnAnswer> {
    try {
      return await this.answerOf(recording, operation, call);
    } catch (error) {
      if (error instanceof IdempotencyError) return this.problems.answer(error, call.exchange);
      if (!(error instanceof HttpException)) {
        this.report('authorizeReplay() failed; the replay was refused.', error, operation);
      }
      return this.problems.answer(replayForbidden(), call.exchange);
    }
  }
}
