import { createHash } from 'node:crypto';
export function lockOf(table, { tenant, endpoint, key }) {
    const hash = createHash('sha256');
    for (const part of ['nestjs-idempotency', table, tenant, endpoint, key]) {
        const bytes = Buffer.from(part);
        const length = Buffer.allocUnsafe(8);
        length.writeBigUInt64BE(BigInt(bytes.byteLength));
        hash.update(length).update(bytes);
    }
    return hash.digest().readBigInt64BE().toString();
}
