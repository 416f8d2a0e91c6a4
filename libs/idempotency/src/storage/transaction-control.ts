/** Quoted text, quoted names, dollar quotes and comments: whatever stands in them commands nothing. */
const QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"|(\$(?:[A-Za-z_]\w*)?\$)[\s\S]*?\1|--[^\n]*|\/\*[\s\S]*?\*\//g;

const CONTROL =
  /^\s*(?:begin|start\s+transaction|commit|end|abort|prepare\s+transaction|rollback(?!\s+(?:work\s+|transaction\s+)?to\b))\b/i;

/**
 * Whether the text holds a command that begins or ends a transaction.
 *
 * Savepoints are not among them: they live and die inside the transaction.
 */
export function controlsTransaction(text: string): boolean {
  if (!/\b(?:begin|start|commit|end|abort|prepare|rollback)\b/i.test(text)) return false;
  return text
    .replace(QUOTED, ' ')
    .split(';')
    .some((command) => CONTROL.test(command));
}
