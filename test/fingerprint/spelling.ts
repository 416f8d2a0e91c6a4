/** Choices among spellings of one thing, drawn in advance so that a failing run can be repeated and made smaller. */
export class Choices {
  private next = 0;

  constructor(private readonly drawn: readonly number[]) {}

  of<Option>(options: readonly Option[]): Option {
    return options[this.draw() % options.length]!;
  }

  /** The same items in some order. */
  order<Item>(items: readonly Item[]): Item[] {
    const left = [...items];
    return items.map(() => left.splice(this.draw() % left.length, 1)[0]!);
  }

  private draw(): number {
    const drawn = this.drawn[this.next++ % this.drawn.length]!;
    return drawn + this.next;
  }
}

/** A JSON value by what it means. A number is given by all its spellings, which a parser reads as one value. */
export type Json =
  | { readonly kind: 'number'; readonly spellings: readonly string[] }
  | { readonly kind: 'literal'; readonly text: 'true' | 'false' | 'null' }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly Json[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: Json])[] };

const number = (...spellings: string[]): Json => ({ kind: 'number', spellings });
const string = (value: string): Json => ({ kind: 'string', value });
const literal = (text: 'true' | 'false' | 'null'): Json => ({ kind: 'literal', text });
const ZERO = number('0', '0.0', '0e5', '0E-1');
const ONE = number('1', '1.0', '1e0', '10e-1', '0.1E+1');
const INFINITE = number('1e400', '2e999');

/** Values that are easily taken for each other, a line each. The spellings of a number are one in double precision. */
export const LOOKALIKES: readonly (readonly [Json, ...Json[]])[] = [
  [ZERO, number('-0', '-0.0', '-0e9'), literal('null'), literal('false'), string(''), string('0')],
  [ONE, literal('true'), string('1'), { kind: 'array', items: [ONE] }, number('-1', '-1.00')],
  [INFINITE, number('-1e400', '-1e309'), literal('null'), string('Infinity'), number('1.7976931348623157e308')],
  [number('9007199254740992', '9007199254740993', '9.007199254740992e15'), number('9007199254740994')],
  [number('1e21', '1000000000000000000000', '1E+21'), string('1e+21')],
  [number('5e-324', '4.9e-324'), ZERO],
  [string('\u00e9'), string('e\u0301'), string('e')],
  [string('\ud800'), string('\udc00'), string('\ufffd'), string('\u{1f600}')],
  [string('\0'), string(''), string('"\\'), string('\\u0000')],
  [{ kind: 'array', items: [] }, { kind: 'object', members: [] }, literal('null'), string('')],
  [
    { kind: 'array', items: [literal('null')] },
    { kind: 'array', items: [] },
    { kind: 'array', items: [INFINITE] },
  ],
];

/** Some spelling of a JSON value: its whitespace, escapes, numbers, and the order of its members. */
export function spellJson(json: Json, choices: Choices): string {
  const space = () => choices.of(['', '', ' ', '\n', '\t ']);
  const list = (open: string, items: readonly string[], close: string) =>
    `${open}${space()}${items.join(`${space()},${space()}`)}${space()}${close}`;
  switch (json.kind) {
    case 'number':
      return choices.of(json.spellings);
    case 'literal':
      return json.text;
    case 'string':
      return spellString(json.value, choices);
    case 'array':
      return list(
        '[',
        json.items.map((item) => spellJson(item, choices)),
        ']',
      );
    case 'object': {
      const members = choices.order(json.members).flatMap(([name, value]) => {
        const member = `${spellString(name, choices)}${space()}:${space()}${spellJson(value, choices)}`;
        // Of two members of one name, parsers take the last.
        const overridden = `${spellString(name, choices)}:"overridden"`;
        return choices.of([[member], [member], [member], [overridden, member]]);
      });
      return list('{', members, '}');
    }
  }
}

function spellString(value: string, choices: Choices): string {
  const units = Array.from({ length: value.length }, (_, at) => value.charCodeAt(at));
  const escaped = (unit: number) => `\\u${unit.toString(16).padStart(4, '0')}`;
  const mustEscape = (unit: number) =>
    unit < 0x20 || unit === 0x22 || unit === 0x5c || (unit >= 0xd800 && unit < 0xe000);
  const spelled = units.map((unit) =>
    mustEscape(unit)
      ? escaped(unit)
      : choices.of([String.fromCharCode(unit), String.fromCharCode(unit), escaped(unit)]),
  );
  return `"${spelled.join('')}"`;
}

/** Some percent-encoding of a text: of more than need it, in hexadecimal digits of either case. */
export function spellEncoded(text: string, choices: Choices): string {
  return [...Buffer.from(text)]
    .map((byte) => {
      const hex = byte.toString(16).padStart(2, '0');
      const encoded = choices.of([`%${hex}`, `%${hex.toUpperCase()}`]);
      const plain = String.fromCharCode(byte);
      return /[\w.~-]/.test(plain) ? choices.of([plain, plain, encoded]) : encoded;
    })
    .join('');
}

/** Some spelling of names and values as in a query or a form. Those of one name keep their order, or do not. */
export function spellPairs(pairs: readonly (readonly [name: string, value: string])[], choices: Choices): string {
  return choices
    .of([pairs, choices.order(pairs)])
    .map(([name, value]) => `${spellEncoded(name, choices)}=${spellEncoded(value, choices)}`)
    .join('&');
}

/** Some spelling of a media type: its case, and parameters that change nothing for text in UTF-8. */
export function spellMediaType(mediaType: string, choices: Choices): string {
  const cased = choices.of([mediaType, mediaType, mediaType.toUpperCase()]);
  return `${cased}${choices.of(['', '', '; charset=utf-8', ';charset=UTF-8', '; Charset="utf-8"'])}`;
}
