/** Where something quoted begins: a string with escapes, a string, a name, a dollar quote, a comment. */
const QUOTE =
  /(?<![\w$\u0080-\uffff])[eE]'|'|"|(?<![\w$\u0080-\uffff])\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|--|\/\*/g;

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
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    QUOTE.lastIndex = from;
    const opening = QUOTE.exec(text);
    if (!opening) return kept.join(' ') + text.slice(from);
    kept.push(text.slice(from, opening.index), '');
    from = endOf(opening[0], text, QUOTE.lastIndex);
  }
}

/** Where what `opening` began is over; the end of the text where it is never closed. */
function endOf(opening: string, text: string, from: number): number {
  switch (opening) {
    case '/*':
      return endOfComment(text, from);
    case '--':
      return after(/[^\n\r]*[\n\r]/y, text, from);
    case '"':
      return after(/[^"]*(?:""[^"]*)*"/y, text, from);
    case "'":
      return after(/[^']*(?:''[^']*)*'/y, text, from);
    case "e'":
    case "E'":
      return after(/[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*'/y, text, from);
    default: {
      const closing = text.indexOf(opening, from);
      return closing < 0 ? text.length : closing + opening.length;
    }
  }
}

/** Comments nest in PostgreSQL. */
function endOfComment(text: string, from: number): number {
  const mark = /\/\*|\*\//g;
  mark.lastIndex = from;
  for (let depth = 1; depth > 0;) {
    const found = mark.exec(text);
    if (!found) return text.length;
    depth += found[0] === '/*' ? 1 : -1;
  }
  return mark.lastIndex;
}

function after(closing: RegExp, text: string, from: number): number {
  closing.lastIndex = from;
  return closing.test(text) ? closing.lastIndex : text.length;
}
