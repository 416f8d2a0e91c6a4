import { type ExecutionContext, HttpException } from '@nestjs/common';

import { IdempotencyError, UnknownTenantError } from '../core/errors.js';
import type { IdempotencyModuleOptions } from './options.js';

/** The one tenant of an application that has no tenants. */
const SINGLE_TENANT = '';

/** The longest name of a tenant, in bytes: with endpoint and key it has to fit into one row of an index. */
const MAX_TENANT_BYTES = 1024;

/** Finds out whose key space something belongs to. */
export class Tenants {
  constructor(private readonly options: Pick<IdempotencyModuleOptions, 'tenant' | 'singleTenant'>) {}

  /**
   * The tenant that a request, or a message, belongs to.
   *
   * Rejects with `idempotency-scope-unresolved`, or with the `HttpException` that the application's resolver threw.
   */
  async of(context: ExecutionContext): Promise<string> {
    if (!this.options.tenant) return SINGLE_TENANT;
    let tenant: unknown;
    try {
      tenant = await this.options.tenant(context);
    } catch (error) {
      throw error instanceof HttpException ? error : unresolved(error);
    }
    return checkedTenant(tenant);
  }

  /** The tenant that code names itself; none where all share one key space. */
  named(tenant: string | undefined): string {
    return tenant === undefined && this.options.singleTenant ? SINGLE_TENANT : checkedTenant(tenant);
  }
}

function checkedTenant(tenant: unknown): string {
  const isName = typeof tenant === 'string' && tenant !== '' && !tenant.includes('\0');
  if (isName && Buffer.byteLength(tenant) <= MAX_TENANT_BYTES) return tenant;
  throw unresolved(new UnknownTenantError('There was nothing that can name a tenant.'));
}

function unresolved(cause: unknown): IdempotencyError {
  return new IdempotencyError('idempotency-scope-unresolved', 'It could not be found out whose request this is.', {
    cause,
  });
}
