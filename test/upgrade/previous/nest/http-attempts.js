import { HttpException } from '@nestjs/common';
import { checkedKey } from '../core/key.js';
import { keyFromHeaders, keyMissing } from '../http/key-header.js';
import { customFingerprint, fingerprintFailed, requestFingerprint } from '../http/payload.js';
import { isEmptyBody } from '../http/unread-body.js';
export class HttpAttempts {
    constructor(tenants, header) {
        this.tenants = tenants;
        this.header = header;
    }
    async attemptOf(call) {
        const { context, exchange, endpoint } = call;
        const key = await this.keyOf(context, exchange, endpoint);
        if (key === undefined) {
            if (endpoint.isRequired)
                throw keyMissing(this.header);
            return null;
        }
        const { method, pattern } = exchange.content;
        const operation = {
            tenant: await this.tenants.of(context),
            endpoint: endpoint.endpoint ?? `${method} ${pattern}${endpoint.variant}`,
            key,
        };
        const { strategy, leaseMs, retentionMs } = endpoint;
        return { operation, fingerprint: await fingerprintOf(call), strategy, leaseMs, retentionMs };
    }
    async keyOf(context, { request }, endpoint) {
        if (!endpoint.key)
            return keyFromHeaders(request.rawHeaders, this.header);
        const key = (await endpoint.key(context)) ?? undefined;
        return key === undefined ? undefined : checkedKey(key);
    }
}
async function fingerprintOf({ context, exchange, endpoint }) {
    const { request } = exchange;
    const { endpoint: name, fingerprint } = endpoint;
    const content = name === undefined ? exchange.content : { ...exchange.content, pattern: name };
    if (typeof fingerprint === 'function')
        return customFingerprint(content, await askedBy(fingerprint, context));
    const isEmpty = content.hasBody && content.body === undefined && (await isEmptyBody(request));
    return requestFingerprint(isEmpty ? { ...content, hasBody: false } : content, fingerprint);
}
async function askedBy(fingerprinter, context) {
    try {
        return await fingerprinter(context);
    }
    catch (error) {
        throw error instanceof HttpException ? error : fingerprintFailed(error);
    }
}
