import { createHash, timingSafeEqual } from 'node:crypto';
export const FINGERPRINT_VERSION = 1;
export function fingerprint(parts, version = FINGERPRINT_VERSION) {
    const hash = createHash('sha256');
    const length = Buffer.allocUnsafe(8);
    for (const part of parts) {
        const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
        length.writeBigUInt64BE(BigInt(bytes.byteLength));
        hash.update(length).update(bytes);
    }
    return Buffer.concat([Buffer.of(version), hash.digest()]);
}
export function inVersionOf(stored, asked) {
    const version = stored[0];
    return version === asked.fingerprint[0] ? asked.fingerprint : (asked.fingerprintIn?.(version) ?? null);
}
export function sameFingerprint(a, b) {
    return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
