import type { ExecutionContext, CallHandler } from '@nestjs/common';
import { lastValueFrom, type Observable } from 'rxjs';

import type { Attempt } from '../../core/attempt.js';
import { checkedKey, invalidKey } from '../../core/key.js';
import type { Report } from '../../core/ports.js';
import type { Envelope } from '../../messaging/envelope.js';
import { messageIdMissing, messageIdOf } from '../../messaging/message-id.js';
import { payloadFingerprint } from '../../messaging/payload-fingerprint.js';
import type { Settlement } from '../../messaging/settlement.js';
import { fingerprintFailed } from '../../http/payload.js';
import type { Endpoint } from '../endpoints.js';
import type { MessageOptions } from '../options.js';
import type { Tenants } from '../tenants.js';
import type { Consumption } from './consumption.js';
import { deliveryTo } from './deliveries.js';
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
      () => lastValueFrom(next.handle(), { defaultValue: undefined }),
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
      tenant: await this.tenants.of(context),
      endpoint: name,
      key: endpoint.key ? checkedMessageKey(await endpoint.key(context)) : messageIdOf(envelope),
    };
    const { strategy, leaseMs, retentionMs } = endpoint;
    return { operation, fingerprint: await fingerprintOf(context, envelope, endpoint), strategy, leaseMs, retentionMs };
  }

  private parking(endpoint: string, envelope: Envelope, settlement: Settlement): (() => Promise<void>) | undefined {
    const { park } = this;
    if (settlement.kind !== 'park' || !park) return undefined;
    const { reason, error } = settlement;
    return async () => {
      try {
        await park({ endpoint, envelope, reason, error });
      } catch (failure) {
        this.report('`messages.park` failed; the message is not acknowledged.', failure);
        throw failure;
      }
    };
  }
}

function checkedMessageKey(key: unknown): string {
  if (key === undefined || key === null) throw messageIdMissing();
  if (typeof key !== 'string') throw invalidKey('syntax');
  return checkedKey(key);
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
