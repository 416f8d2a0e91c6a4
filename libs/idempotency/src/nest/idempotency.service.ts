import { Inject, Injectable } from '@nestjs/common';

import { type Attempt, claimTerms } from '../core/attempt.js';
import { workBroken } from '../core/errors.js';
import { checkedKey } from '../core/key.js';
import { Observation, type Observer } from '../core/observation.js';
import { messageIdOf } from '../messaging/message-id.js';
import { payloadFingerprint } from '../messaging/payload-fingerprint.js';
import type { Outcome, Settlement } from '../messaging/settlement.js';
import { currentAttempt } from './attempt-context.js';
import type { IdempotentOperation } from './idempotent-operation.js';
import type { Consumption } from './messages/consumption.js';
import type { OperationRuns, OperationWork } from './operation-runs.js';
import { type ConsumedMessage, messageOptions, operationOptions, type OperationRequest } from './operation-request.js';
import type { IdempotencyModuleOptions } from './options.js';
import { consumerSettings, type EndpointSettings, endpointSettings } from './settings.js';
import { Tenants } from './tenants.js';
import { CONSUMPTION, OBSERVER, OPERATION_RUNS, OPTIONS } from './tokens.js';

export type { ConsumedMessage, OperationOptions, OperationRequest } from './operation-request.js';

/** Makes code harmless to repeat that is no HTTP handler: jobs, scripts, consumers, resolvers and gateways. */
@Injectable()
export class IdempotencyService {
  constructor(
    @Inject(OPERATION_RUNS) private readonly runs: OperationRuns,
    @Inject(CONSUMPTION) private readonly consumption: Consumption,
    @Inject(OPTIONS) private readonly options: IdempotencyModuleOptions,
    @Inject(OBSERVER) private readonly observer: Observer,
    private readonly tenants: Tenants,
  ) {}

  /**
   * Runs the work once, in a transaction that commits together with the value it returns; whoever asks again is given
   * that value, as plain data.
   *
   * Rejects with what the work threw, everything it wrote being undone; and with an `IdempotencyError`:
   * `idempotency-request-in-progress` where another worker is at it, `idempotency-key-reused` for another payload,
   * `idempotency-response-unavailable` where it was done and its value not kept, `idempotency-store-unavailable` where
   * nobody knows, `idempotency-work-broken` inside a running operation, unless it is to join that.
   *
   * @example
   * ```ts
   * const { value } = await idempotency.run(
   *   { tenant: account, endpoint: 'monthly-invoice', key: `2026-11:${account}`, payload: { month: '2026-11' } },
   *   ({ manager }) => this.invoices.create(account, '2026-11', manager),
   * );
   * ```
   */
  async run<Result>(request: OperationRequest, work: OperationWork<Result>): Promise<Outcome<Result>> {
    const settings = endpointSettings(this.options, operationOptions(request));
    const outer = runningOperation();
    if (outer) {
      if (!request.join) throw nested('run');
      return { kind: 'executed', value: await work(outer) };
    }
    this.assertSteps(settings);
    const observation = new Observation(this.observer, 'service', request.endpoint);
    const attempt = await observation.identify(() => this.attempt(request, request.key, settings));
    const handled = await this.runs.handle(attempt, settings, work, observation, request.signal);
    if ('value' in handled) return handled;
    throw handled.error;
  }

  /**
   * Handles a delivered message once, and says how its delivery is to be settled; never before its effect is committed.
   *
   * Whatever becomes of the message is in the settlement, what its work threw included. Rejects only where the call
   * itself is wrong: an option that is none, or a running operation around it.
   */
  async consume<Result>(message: ConsumedMessage, work: OperationWork<Result>): Promise<Settlement<Result>> {
    const settings = consumerSettings(this.options, messageOptions(message));
    if (runningOperation()) throw nested('consume');
    this.assertSteps(settings);
    const identify = () => this.attempt(message, message.key ?? messageIdOf(message), settings);
    return this.consumption.consume({ endpoint: message.endpoint, settings }, identify, work);
  }

  /**
   * The same for messages that were delivered together: each is an operation of its own, one after the other, so that a
   * duplicate in the batch finds the first one done, and a message that fails takes no other along.
   *
   * One settlement a message, in their order.
   */
  async consumeAll<Message extends ConsumedMessage, Result>(
    messages: readonly Message[],
    work: (message: Message, operation: IdempotentOperation) => Promise<Result> | Result,
  ): Promise<Settlement<Result>[]> {
    const settlements: Settlement<Result>[] = [];
    for (const message of messages) {
      settlements.push(await this.consume(message, (operation) => work(message, operation)));
    }
    return settlements;
  }

  private attempt(
    { tenant, endpoint, payload }: Pick<OperationRequest, 'tenant' | 'endpoint' | 'payload'>,
    key: string,
    settings: EndpointSettings,
  ): Attempt {
    const operation = { tenant: this.tenants.named(tenant), endpoint, key: checkedKey(key) };
    return { operation, fingerprint: payloadFingerprint(payload), ...claimTerms(settings) };
  }

  private assertSteps({ isManual, strategy }: EndpointSettings): void {
    if (!isManual) return;
    if (strategy.kind === 'transaction') throw new Error("IdempotencyService: steps need `claim: 'lease'`.");
    if (this.options.providerKeySecret === undefined) {
      throw new Error(
        "IdempotencyService: `transaction: 'manual'` makes steps. Set `providerKeySecret` in " +
          'IdempotencyModule.forRoot(), to derive their keys with.',
      );
    }
  }
}

function runningOperation(): IdempotentOperation | undefined {
  const attempt = currentAttempt();
  return attempt?.handle && !attempt.isOver ? attempt.handle : undefined;
}

function nested(method: 'run' | 'consume'): Error {
  const remedy = method === 'run' ? 'Make it a part of that with `join: true`, or call' : 'Call';
  return workBroken(
    `IdempotencyService.${method}() was called inside a running operation: it would hold a second connection, and ` +
      `commit although the outer one may not. ${remedy} it when that is over.`,
  );
}
