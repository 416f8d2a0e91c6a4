import { partsOf } from './quoted-text.js';
const CONTROL = /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;
export function controlsTransaction(text) {
    if (!/\b(?:begin|start|commit|end|abort|prepare|rollback)\b/i.test(text))
        return false;
    return unquoted(text)
        .split(';')
        .some((command) => CONTROL.test(command));
}
function unquoted(text) {
    return Array.from(partsOf(text), (part) => (part.opening === null ? part.text : ' ')).join('');
}
