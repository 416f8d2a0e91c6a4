import { HttpException } from '@nestjs/common';
import { lastValueFrom } from 'rxjs';
import { IdempotencyError, UnknownTenantError } from '../../core/errors.js';
import { checkedKey } from '../../core/key.js';
import { messageIdMissing, messageIdOf } from '../../messaging/message-id.js';
import { payloadFingerprint } from '../../messaging/payload-fingerprint.js';
import { fingerprintFailed } from '../../http/payload.js';
import { deliveryTo } from './deliveries.js';
import { isEventHandler } from './handler-metadata.js';
export class MessageArrivals {
    constructor(consumption, tenants, holds, park, started, report) {
        this.consumption = consumption;
        this.tenants = tenants;
        this.holds = holds;
        this.park = park;
        this.started = started;
        this.report = report;
    }
    async arrive(context, endpoint, next) {
        await this.started();
        const name = endpoint.endpoint ?? `${context.getClass().name}.${context.getHandler().name}`;
        const delivery = deliveryTo(context);
        const { envelope } = delivery;
        delivery.takeOver?.();
        const settlement = await this.consumption.consume({ endpoint: name, settings: endpoint }, () => this.attemptOf(context, name, envelope, endpoint), async () => {
            const value = await lastValueFrom(next.handle(), { defaultValue: undefined });
            await delivery.assertReturnable?.(value);
            return isEventHandler(context.getHandler()) ? undefined : value;
        });
        return delivery.settle(settlement, { holds: this.holds, park: this.parking(name, envelope, settlement) });
    }
    async attemptOf(context, name, envelope, endpoint) {
        const operation = {
            tenant: await this.tenantOf(context),
            endpoint: name,
            key: endpoint.key ? await keyOf(context, endpoint.key) : messageIdOf(envelope),
        };
        const { strategy, leaseMs, retentionMs } = endpoint;
        return { operation, fingerprint: await fingerprintOf(context, envelope, endpoint), strategy, leaseMs, retentionMs };
    }
    async tenantOf(context) {
        try {
            return await this.tenants.of(context);
        }
        catch (error) {
            if (error instanceof IdempotencyError)
                throw error;
            const isRefusal = error instanceof HttpException && error.getStatus() < 500;
            const cause = isRefusal ? new UnknownTenantError('The message was refused.', { cause: error }) : error;
            throw new IdempotencyError('idempotency-scope-unresolved', 'It could not be found out whose message this is.', {
                cause,
            });
        }
    }
    parking(endpoint, envelope, settlement) {
        const { park } = this;
        if (settlement.kind !== 'park' || !park)
            return undefined;
        const { reason, error } = settlement;
        return async () => {
            try {
                await park({ endpoint, envelope, reason, error });
                return true;
            }
            catch (failure) {
                this.report('`messages.park` failed; the message is not acknowledged.', failure);
                return false;
            }
        };
    }
}
async function keyOf(context, key) {
    let found;
    try {
        found = await key(context);
    }
    catch (error) {
        throw error instanceof IdempotencyError ? error : messageIdMissing(error);
    }
    if (found === undefined || found === null)
        throw messageIdMissing();
    return checkedKey(found);
}
async function fingerprintOf(context, { payload }, { fingerprint }) {
    if (typeof fingerprint !== 'function')
        return payloadFingerprint(payload);
    try {
        const asked = await fingerprint(context);
        if (asked === undefined)
            throw new Error('It returned undefined.');
        return payloadFingerprint(asked);
    }
    catch (error) {
        throw fingerprintFailed(error);
    }
}
