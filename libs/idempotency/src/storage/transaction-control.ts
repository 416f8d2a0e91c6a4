import { partsOf } from './quoted-text.js';

const CONTROL =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/**
 * Whether the text holds a command that begins or ends a transaction.
 *
 * Savepoints are not among them: they live and die inside the transaction.
 */
export function controlsTransaction(text: string): boolean {
  if (!/\b(?:begin|start|commit|end|abort|prepare|rollback)\b/i.test(text)) return false;
  return unquoted(text)
    .split(';')
    .some((command) => CONTROL.test(command));
}

/** The text without anything quoted: whatever stands in quotes and comments commands nothing. */
function unquoted(text: string): string {
  return Array.from(partsOf(text), (part) => (part.opening === null ? part.text : ' ')).join('');
}
