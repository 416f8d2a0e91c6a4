import ms from 'ms';

/** Writes one line for people, past stdout, which is for the answer. */
export function tell(text: string): void {
  process.stderr.write(`${withoutPasswords(text)}\n`);
}

/** Writes the answer: one JSON document, or what people read. */
export function answer(isJson: boolean, document: unknown, text: () => string): void {
  process.stdout.write(`${isJson ? JSON.stringify(document, null, 2) : text()}\n`);
}

/** Hides the password of every URL in a text, also of one that should have been written otherwise. */
export function withoutPasswords(text: string): string {
  return text.replace(/(\w+:\/\/[^\s:/@]*):.*@/g, '$1:***@').replace(/([?&]password=)[^&'\n]*/gi, '$1***');
}

/** A text that can do nothing to a terminal, and is seen where it is empty. */
export function printable(text: string): string {
  if (text === '') return "''";
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** Columns under their titles. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [titles, ...rows];
  const widths = titles.map((_, at) => Math.max(...lines.map((line) => line[at]!.length)));
  return lines
    .map((line) =>
      line
        .map((cell, at) => cell.padEnd(widths[at]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Names and what they are, a line each. */
export function columns(pairs: readonly (readonly [name: string, value: string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

/** A length of time in its largest unit. */
export function spoken(seconds: number): string {
  return ms(Math.round(seconds) * 1000);
}

/** The time that an ISO string writes, in seconds and UTC. */
export function time(date: Date): string {
  return date.toISOString().replace(/\.\d+Z$/, 'Z');
}
