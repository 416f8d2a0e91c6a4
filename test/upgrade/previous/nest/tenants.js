import { HttpException } from '@nestjs/common';
import { IdempotencyError, UnknownTenantError } from '../core/errors.js';
const SINGLE_TENANT = '';
const MAX_TENANT_BYTES = 1024;
export class Tenants {
    constructor(options) {
        this.options = options;
    }
    async of(context) {
        if (!this.options.tenant)
            return SINGLE_TENANT;
        let tenant;
        try {
            tenant = await this.options.tenant(context);
        }
        catch (error) {
            throw error instanceof HttpException ? error : unresolved(error);
        }
        return checkedTenant(tenant);
    }
    named(tenant) {
        return tenant === undefined && this.options.singleTenant ? SINGLE_TENANT : checkedTenant(tenant);
    }
}
function checkedTenant(tenant) {
    const isName = typeof tenant === 'string' && tenant !== '' && !tenant.includes('\0');
    if (isName && Buffer.byteLength(tenant) <= MAX_TENANT_BYTES)
        return tenant;
    throw unresolved(new UnknownTenantError('There was nothing that can name a tenant.'));
}
function unresolved(cause) {
    return new IdempotencyError('idempotency-scope-unresolved', 'It could not be found out whose request this is.', {
        cause,
    });
}
