import { type ExecutionContext, HttpException } from '@nestjs/common';

import type { Attempt } from '../core/attempt.js';
import { IdempotencyError } from '../core/errors.js';
import { checkedKey, invalidKey } from '../core/key.js';
import { keyFromHeaders } from '../http/key-header.js';
import { requestFingerprint } from '../http/payload.js';
import { keyMissing } from '../http/refusal.js';
import type { Endpoint } from './endpoints.js';
import type { HttpCall } from './http-call.js';
import type { HttpExchange } from './http-exchange.js';
import type { IdempotencyModuleOptions } from './options.js';

/** The one tenant of an application that has no tenants. */
const SINGLE_TENANT = '';

/** Makes the attempt out of a request. */
export class HttpAttempts {
  constructor(
    private readonly options: IdempotencyModuleOptions,
    private readonly header: string,
  ) {}

  /** The attempt; null for a request without a key where none is required. */
  async attemptOf({ context, exchange, endpoint }: HttpCall): Promise<Attempt | null> {
    const key = this.keyOf(context, exchange, endpoint);
    if (key === undefined) {
      if (endpoint.isRequired) throw keyMissing(this.header);
      return null;
    }
    const { method, pattern } = exchange.content;
    const operation = {
      tenant: await this.tenantOf(context),
      endpoint: endpoint.endpoint ?? `${method} ${pattern}${endpoint.variant}`,
      key,
    };
    const { strategy, leaseMs, retentionMs } = endpoint;
    return { operation, fingerprint: requestFingerprint(exchange.content), strategy, leaseMs, retentionMs };
  }

  private keyOf(context: ExecutionContext, { request }: HttpExchange, endpoint: Endpoint): string | undefined {
    if (!endpoint.key) return keyFromHeaders(request.rawHeaders, this.header);
    const key = endpoint.key(context) ?? undefined;
    if (key === undefined) return undefined;
    if (typeof key !== 'string') throw invalidKey('syntax');
    return checkedKey(key);
  }

  private async tenantOf(context: ExecutionContext): Promise<string> {
    if (!this.options.tenant) return SINGLE_TENANT;
    let tenant: unknown;
    let cause: unknown;
    try {
      tenant = await this.options.tenant(context);
    } catch (error) {
      if (error instanceof HttpException) throw error;
      cause = error;
    }
    if (typeof tenant === 'string' && tenant !== '' && !tenant.includes('\0')) return tenant;
    throw new IdempotencyError('idempotency-scope-unresolved', 'It could not be found out whose request this is.', {
      cause: cause ?? new Error('The tenant resolver returned nothing that can name a tenant.'),
    });
  }
}
