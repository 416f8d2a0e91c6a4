import { canonicalJson } from '../core/canonical-json.js';
import { fingerprint } from '../core/fingerprint.js';
export function payloadFingerprint(payload) {
    return fingerprint(['value', ...partsOf(payload)]);
}
function partsOf(payload) {
    if (payload === undefined)
        return ['nothing'];
    return payload instanceof Uint8Array ? ['bytes', payload] : ['json', canonicalJson(payload)];
}
