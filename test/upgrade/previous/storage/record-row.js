export function toRecord(row) {
    if (row === null)
        return null;
    const { state, token, fingerprint, is_expired: isExpired } = row;
    if (state === 'in_progress') {
        return { state, token, fingerprint, isExpired, leaseLeftMs: row.lease_left_ms, hasSteps: row.has_steps };
    }
    const recording = {
        status: row.status ?? 200,
        headers: JSON.parse(row.headers ?? '[]'),
        body: row.body,
        omitted: row.omitted,
        ...(row.key_id !== null && { keyId: row.key_id }),
        resource: row.resource,
    };
    return { state, token, fingerprint, isExpired, recording };
}
