import { IdempotencyError } from '../core/errors.js';
const TRANSIENT = new Set([401, 403, 408, 423, 425, 429]);
export function judge(outcome, status, errors) {
    if (outcome.kind === 'returned') {
        if (status >= 500)
            return 'release';
        const wasSpoilt = status >= 400 && status !== outcome.status;
        return wasSpoilt ? 'release' : 'commit';
    }
    if (!outcome.hasEntered || outcome.isConflict)
        return 'release';
    if (outcome.error instanceof IdempotencyError)
        return 'release';
    const rule = errors?.(outcome.error, status);
    if (rule === 'record')
        return 'refuse';
    if (rule === 'release')
        return 'release';
    if (rule !== undefined)
        throw new TypeError("`errors` returned something else than 'record', 'release' or undefined.");
    return status >= 400 && status < 500 && !TRANSIENT.has(status) ? 'refuse' : 'release';
}
