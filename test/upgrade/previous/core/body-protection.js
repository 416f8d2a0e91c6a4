import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export function aes256Gcm({ keys: given, current }) {
    const keys = new Map(Object.entries(given).map(([id, key]) => [id, keyBytes(id, key)]));
    if (!keys.has(current))
        throw new Error(`aes256Gcm: \`current\` is '${current}', which names no key.`);
    return {
        seal: (body, operation) => {
            const nonce = randomBytes(NONCE_BYTES);
            const cipher = createCipheriv(ALGORITHM, keys.get(current), nonce).setAAD(binding(operation));
            const ciphertext = [cipher.update(body), cipher.final()];
            return { keyId: current, sealed: Buffer.concat([nonce, cipher.getAuthTag(), ...ciphertext]) };
        },
        open: ({ keyId, sealed }, operation) => {
            const key = keys.get(keyId);
            if (!key)
                throw new Error(`aes256Gcm: a recording is sealed under the key '${keyId}', which is not given.`);
            const nonce = sealed.subarray(0, NONCE_BYTES);
            const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
            const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
            decipher.setAAD(binding(operation)).setAuthTag(tag);
            return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
        },
    };
}
export async function sealBody(body, protection, operation) {
    if (!protection)
        return { body };
    const { keyId, sealed } = await protection.seal(body, operation);
    if (typeof keyId !== 'string')
        throw new TypeError('`protect.seal()` returned no `keyId`.');
    return { body: sealed, keyId };
}
export async function openBody({ body, keyId }, protection, operation) {
    if (body === null || keyId === undefined)
        return body;
    if (!protection)
        throw new Error('A recording is encrypted, and its endpoint has no `protect` to open it with.');
    return protection.open({ keyId, sealed: body }, operation);
}
function keyBytes(id, key) {
    const bytes = typeof key === 'string' ? Buffer.from(key, 'base64') : Buffer.from(key);
    if (bytes.length === KEY_BYTES)
        return bytes;
    throw new Error(`aes256Gcm: the key '${id}' has ${bytes.length} bytes; it needs ${KEY_BYTES}, such as randomBytes(32).`);
}
function binding({ tenant, endpoint, key }) {
    return Buffer.from(JSON.stringify([tenant, endpoint, key]));
}
