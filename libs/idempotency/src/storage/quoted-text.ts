/** Where something quoted begins: a string with escapes, a string, a name, a dollar quote, a comment. */
const QUOTE =
  /(?<![\w$\u0080-\uffff])[eE]'|'|"|(?<![\w$\u0080-\uffff])\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|--|\/\*/g;

/** A stretch of SQL. */
export interface Part {
  readonly text: string;
  /** What it is quoted by, such as `'`, `E'`, `"`, `$tag$`, `--` or `/*`; null where it is not. */
  readonly opening: string | null;
}

/** Takes a text of SQL apart, by PostgreSQL's rules of quoting; one part follows the other, and nothing is left out. */
export function* partsOf(text: string): Generator<Part> {
  let from = 0;
  for (;;) {
    QUOTE.lastIndex = from;
    const opening = QUOTE.exec(text);
    yield { text: text.slice(from, opening?.index), opening: null };
    if (!opening) return;
    from = endOf(opening[0], text, QUOTE.lastIndex);
    yield { text: text.slice(opening.index, from), opening: opening[0] };
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
