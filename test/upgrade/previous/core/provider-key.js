import { createHmac } from 'node:crypto';
export function providerKey(secret, { tenant, endpoint, key }, fingerprint, step) {
    const hmac = createHmac('sha256', secret);
    const length = Buffer.allocUnsafe(8);
    for (const part of ['step', tenant, endpoint, key, fingerprint, step]) {
        const bytes = typeof part === 'string' ? Buffer.from(part, 'utf8') : part;
        length.writeBigUInt64BE(BigInt(bytes.byteLength));
        hmac.update(length).update(bytes);
    }
    return hmac.digest('hex');
}
export function uuidOf(providerKey) {
    const bytes = Buffer.from(providerKey.slice(0, 32), 'hex');
    bytes[6] = (bytes[6] & 0x0f) | 0x80;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
