import { type ExecutionContext, HttpException } from '@nestjs/common';

import { type Attempt, claimTerms } from '../core/attempt.js';
import { checkedKey } from '../core/key.js';
import { keyFromHeaders, keyMissing } from '../http/key-header.js';
import { customFingerprint, fingerprintFailed, requestFingerprint } from '../http/payload.js';
import { isEmptyBody } from '../http/unread-body.js';
import type { Endpoint } from './endpoints.js';
import type { HttpCall } from './http-call.js';
import type { HttpExchange } from './http-exchange.js';
import type { Fingerprinter } from './options.js';
import type { Tenants } from './tenants.js';

/** Makes the attempt out of a request. */
export class HttpAttempts {
  constructor(
    private readonly tenants: Tenants,
    private readonly header: string,
  ) {}

  /** The attempt; null for a request without a key where none is required. */
  async attemptOf(call: HttpCall): Promise<Attempt | null> {
    const { context, exchange, endpoint } = call;
    const key = await this.keyOf(context, exchange, endpoint);
    if (key === undefined) {
      if (endpoint.isRequired) throw keyMissing(this.header);
      return null;
    }
    const operation = { tenant: await this.tenants.of(context), endpoint: endpointOf(call), key };
    return { operation, fingerprint: await fingerprintOf(call), ...claimTerms(endpoint) };
  }

  private async keyOf(
    context: ExecutionContext,
    { request }: HttpExchange,
    endpoint: Endpoint,
  ): Promise<string | undefined> {
    if (!endpoint.key) return keyFromHeaders(request.rawHeaders, this.header);
    const key: unknown = (await endpoint.key(context)) ?? undefined;
    return key === undefined ? undefined : checkedKey(key);
  }
}

/** What the operations of a request's route are called: by the name that it was given, or by itself. */
export function endpointOf({ exchange, endpoint }: HttpCall): string {
  const { method, pattern } = exchange.content;
  return endpoint.endpoint ?? `${method} ${pattern}${endpoint.variant}`;
}

/** Worked out before the handler can change what it was given. */
async function fingerprintOf({ context, exchange, endpoint }: HttpCall): Promise<Uint8Array> {
  const { request } = exchange;
  const { endpoint: name, fingerprint } = endpoint;
  // A named operation is the same wherever its route has moved to.
  const content = name === undefined ? exchange.content : { ...exchange.content, pattern: name };
  if (typeof fingerprint === 'function') return customFingerprint(content, await askedBy(fingerprint, context));
  const isEmpty = content.hasBody && content.body === undefined && (await isEmptyBody(request));
  return requestFingerprint(isEmpty ? { ...content, hasBody: false } : content, fingerprint);
}

async function askedBy(fingerprinter: Fingerprinter, context: ExecutionContext): Promise<unknown> {
  try {
    return await fingerprinter(context);
  } catch (error) {
    throw error instanceof HttpException ? error : fingerprintFailed(error);
  }
}
