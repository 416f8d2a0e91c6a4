import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { referenceOf } from '../charges/reference-of.js';
import { FaultQueue } from '../faults/fault-queue.js';
import { assertValidKey, keyOf } from '../keys/idempotency-key.js';
import { type KeyedRequest, once } from '../keys/once.js';
import { merchantOf } from '../merchants/current-merchant.js';
import { ProblemException } from '../problems/problem.exception.js';
import { Settings } from '../settings/settings.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { Outbox, type WrittenEvent } from '../webhooks/outbox.js';
import { WebhookDispatcher } from '../webhooks/webhook-dispatcher.js';
import { type Answer, answerOf } from './answer.js';
import type { Call } from './call.js';
import { CallLog, type LoggedCall } from './call-log.js';
import type { Effect } from './effect.js';
import type { Operation } from './operation.js';
import { deliver, type Outcome } from './outcome.js';
import { Strikes } from './strikes.js';

/** What a controller was asked. */
export interface Asked {
  readonly operation: Operation;
  readonly chargeId?: string | undefined;
  readonly reference?: string | undefined;
  /** What else makes two requests the same, in a fixed order. */
  readonly terms?: readonly unknown[];
}

/** The way of every call: it takes a fault, has its effect, tells the merchant's webhook, and is answered. */
@Injectable()
export class Calls {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly faults: FaultQueue,
    private readonly strikes: Strikes,
    private readonly log: CallLog,
    private readonly outbox: Outbox,
    private readonly webhooks: WebhookDispatcher,
    private readonly shutdown: Shutdown,
  ) {}

  async serve(response: Response, asked: Asked, effect: Effect): Promise<void> {
    const call = await this.callOf(response, asked);
    const request = this.keyedRequest(call, asked);
    const logged = this.log.open(call, this.faults.takeForCall(call));
    let outcome: Outcome | undefined;
    try {
      outcome = await this.outcome(logged, request, effect);
    } catch (error) {
      // What was held or had to wait rejects then; a transaction that was open is rolled back.
      if (!this.shutdown.signal.aborted) throw error;
      outcome = { kind: 'cut' };
    } finally {
      logged.end(outcome);
    }
    deliver(response, outcome, this.shutdown.signal);
  }

  private async callOf(response: Response, { operation, chargeId, reference }: Asked): Promise<Call> {
    const merchantId = merchantOf(response.req);
    const references = [reference, await referenceOf(this.dataSource.manager, merchantId, chargeId)];
    return {
      operation,
      merchantId,
      key: keyOf(response.req),
      chargeId,
      references: references.filter((name) => name !== undefined),
    };
  }

  /** Undefined where the call is not protected by a key. */
  private keyedRequest(call: Call, { operation, chargeId, reference, terms = [] }: Asked): KeyedRequest | undefined {
    const { merchantId, key } = call;
    if (key === undefined || operation === 'lookup' || this.settings.keys === 'ignored') return undefined;
    assertValidKey(key);
    return { merchantId, key, asked: [operation, chargeId, reference, ...terms] };
  }

  private async outcome(logged: LoggedCall, request: KeyedRequest | undefined, effect: Effect): Promise<Outcome> {
    const early = await this.strikes.before(logged);
    if (early) return early;

    const events: WrittenEvent[] = [];
    const answer = await answerTo(() =>
      once(this.dataSource, request, async (manager) => {
        const answer = await answerTo(async () => {
          const { status, body, event } = await effect(manager);
          if (event) events.push(...(await this.outbox.write(manager, logged.call, event)));
          return { status, body: JSON.stringify(body) };
        });
        await this.strikes.during(logged);
        return answer;
      }),
    );
    for (const event of events) await this.webhooks.tell(event);
    return this.strikes.after(logged, answer);
  }
}

/** A refusal is an answer like any other. */
async function answerTo(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProblemException) return answerOf(error);
    throw error;
  }
}
