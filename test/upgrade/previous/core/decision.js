import { inVersionOf, sameFingerprint } from './fingerprint.js';
export function decide(record, asked) {
    if (record === null || isForgotten(record))
        return { kind: 'claimable', fingerprint: asked.fingerprint };
    const fingerprint = inVersionOf(record.fingerprint, asked);
    if (fingerprint === null)
        return { kind: 'incomparable' };
    if (!sameFingerprint(record.fingerprint, fingerprint))
        return { kind: 'mismatch' };
    if (record.state === 'completed')
        return { kind: 'replay', recording: record.recording };
    const leaseLeftMs = record.leaseLeftMs ?? 0;
    return leaseLeftMs > 0 ? { kind: 'in_progress', leaseLeftMs } : { kind: 'claimable', fingerprint };
}
function isForgotten(record) {
    if (!record.isExpired)
        return false;
    return record.state === 'completed' || ((record.leaseLeftMs ?? 0) <= 0 && !record.hasSteps);
}
