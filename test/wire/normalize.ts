/** What differs from one answer to the next by its nature, and how it is written here instead. */
const VARIABLE: readonly (readonly [RegExp, string])[] = [
  [/^(Date: ).*$/gim, '$1<now>'],
  [/^(X-Request-Id: ).*$/gim, '$1<id>'],
  [/^(Set-Cookie: sid=)[^;\r]*/gim, '$1<session>'],
];

/** The bytes of an answer as text, one character a byte, without what is different every time. */
export function normalized(bytes: Buffer): string {
  return VARIABLE.reduce((text, [pattern, instead]) => text.replace(pattern, instead), bytes.toString('latin1'));
}
