import { type CallHandler, type ExecutionContext, HttpException } from '@nestjs/common';
import { lastValueFrom, type Observable } from 'rxjs';

import { type Attempt, claimTerms } from '../../core/attempt.js';
import { IdempotencyError, UnknownTenantError } from '../../core/errors.js';
import { checkedKey } from '../../core/key.js';
import type { Report } from '../../core/ports.js';
import type { Envelope } from '../../messaging/envelope.js';
import { messageIdMissing, messageIdOf } from '../../messaging/message-id.js';
import { payloadFingerprint } from '../../messaging/payload-fingerprint.js';
import type { Settlement } from '../../messaging/settlement.js';
import { fingerprintFailed } from '../../http/payload.js';
import type { Endpoint } from '../endpoints.js';
import type { MessageOptions } from '../options.js';
import type { Handler } from '../route-metadata.js';
import type { Tenants } from '../tenants.js';
import type { Consumption } from './consumption.js';
import { deliveryTo } from './deliveries.js';
import { isEventHandler } from './handler-metadata.js';
import type { Holds } from './holds.js';

/** Lets each message through to its handler, or settles it by what is on record. */
export class MessageArrivals {
  constructor(
    private readonly consumption: Consumption,
    private readonly tenants: Tenants,
    private readonly holds: Holds,
    private readonly park: MessageOptions['park'],
    /** Resolves once the application may be delivered messages. */
    private readonly started: () => Promise<void>,
    private readonly report: Report,
  ) {}

  /** Handles one delivery; resolves to what its handler's caller is given. */
  async arrive(context: ExecutionContext, endpoint: Endpoint, next: CallHandler): Promise<Observable<unknown>> {
    await this.started();
    const name = endpoint.endpoint ?? `${context.getClass().name}.${context.getHandler().name}`;
    const delivery = deliveryTo(context);
    const { envelope } = delivery;
    delivery.takeOver?.();
    const settlement = await this.consumption.consume(
      { endpoint: name, settings: endpoint },
      () => this.attemptOf(context, name, envelope, endpoint),
      async () => {
        const value: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
        await delivery.assertReturnable?.(value);
        // Nobody is given what comes of an event, so it need not be anything that can be kept.
        return isEventHandler(context.getHandler() as Handler) ? undefined : value;
      },
    );
    return delivery.settle(settlement, { holds: this.holds, park: this.parking(name, envelope, settlement) });
  }

  private async attemptOf(
    context: ExecutionContext,
    name: string,
    envelope: Envelope,
    endpoint: Endpoint,
  ): Promise<Attempt> {
    const operation = {
      tenant: await this.tenantOf(context),
      endpoint: name,
      key: endpoint.key ? await keyOf(context, endpoint.key) : messageIdOf(envelope),
    };
    return { operation, fingerprint: await fingerprintOf(context, envelope, endpoint), ...claimTerms(endpoint) };
  }

  /** Nobody is there to be told what the application's resolver throws: it says of the message whether it is anybody's. */
  private async tenantOf(context: ExecutionContext): Promise<string> {
    try {
      return await this.tenants.of(context);
    } catch (error) {
      if (error instanceof IdempotencyError) throw error;
      const isRefusal = error instanceof HttpException && error.getStatus() < 500;
      const cause = isRefusal ? new UnknownTenantError('The message was refused.', { cause: error }) : error;
      throw new IdempotencyError('idempotency-scope-unresolved', 'It could not be found out whose message this is.', {
        cause,
      });
    }
  }

  private parking(endpoint: string, envelope: Envelope, settlement: Settlement): (() => Promise<boolean>) | undefined {
    const { park } = this;
    if (settlement.kind !== 'park' || !park) return undefined;
    const { reason, error } = settlement;
    return async () => {
      try {
        await park({ endpoint, envelope, reason, error });
        return true;
      } catch (failure) {
        this.report('`messages.park` failed; the message is not acknowledged.', failure, { endpoint });
        return false;
      }
    };
  }
}

async function keyOf(context: ExecutionContext, key: NonNullable<Endpoint['key']>): Promise<string> {
  let found: unknown;
  try {
    found = await key(context);
  } catch (error) {
    throw error instanceof IdempotencyError ? error : messageIdMissing(error);
  }
  if (found === undefined || found === null) throw messageIdMissing();
  return checkedKey(found);
}

async function fingerprintOf(
  context: ExecutionContext,
  { payload }: Envelope,
  { fingerprint }: Endpoint,
): Promise<Uint8Array> {
  if (typeof fingerprint !== 'function') return payloadFingerprint(payload);
  try {
    const asked: unknown = await fingerprint(context);
    if (asked === undefined) throw new Error('It returned undefined.');
    return payloadFingerprint(asked);
  } catch (error) {
    throw fingerprintFailed(error);
  }
}
