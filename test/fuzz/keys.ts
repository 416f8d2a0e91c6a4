import { createHash } from 'node:crypto';
import fc from 'fast-check';

export type Line = readonly [name: string, value: string];

const name = fc.constantFrom('Idempotency-Key', 'idempotency-key', 'IDEMPOTENCY-KEY');

/** Any bytes; Node itself refuses a head with most of those below 0x20. */
const bytes = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.nat(0xff), { maxLength }).map((codes) => String.fromCharCode(...codes));

const printable = (maxLength: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 0x20, max: 0x7e }), { maxLength }).map((codes) => String.fromCharCode(...codes));

const quoted = printable(20).map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);

/** Structured fields of every kind (RFC 8941), and what is almost one. */
const structured = fc.oneof(
  quoted,
  fc.tuple(quoted, printable(10)).map(([text, more]) => `${text};${more}`),
  fc.tuple(quoted, quoted).map(([one, other]) => `${one}, ${other}`),
  printable(20).map((text) => `"${text}`),
  printable(20).map((text) => `"${text}"`),
  printable(20).map((text) => `("${text}" "b");q=1`),
  fc.base64String().map((text) => `:${text}:`),
  fc.constantFrom('?1', '1.5', '-0', '@1659578233', '%"f%c3%bc"', '"a";b', '"a" ;b', '"a";b=', '"a"b', '*', 'a;b=1'),
);

const broken = fc.oneof(
  bytes(40),
  printable(40),
  fc.constantFrom('', ' ', '\t', '"', '""', '"\\"', '" "', ',', 'a,b', 'a, b', 'a b', 'a\tb', '\u00fc', '\u00c3\u00bc'),
  fc.constantFrom('a\0b', '"a\0b"', '\x7f', '"\x80"', 'a\r\n b', '"a\r\n b"'),
  fc.constantFrom(255, 256, 1_000, 15_000).map((length) => 'k'.repeat(length)),
  fc.constantFrom(256, 6_000, 9_000).map(noise),
  fc.constantFrom(6_000, 9_000).map((length) => `"${noise(length)}"`),
  fc.constantFrom(253, 255, 256, 15_000).map((length) => `"${'\\"'.repeat(length)}"`),
);

/** Text that cannot be compressed. */
function noise(length: number): string {
  const parts = Array.from({ length: Math.ceil(length / 64) }, (_, at) =>
    createHash('sha256').update(`${at}`).digest('hex'),
  );
  return parts.join('').slice(0, length);
}

/** A key that no other request has. */
const good = fc.uuid();

/** The lines that carry the key: mostly one good one, so that something happens. */
export const keyLines: fc.Arbitrary<readonly Line[]> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        name,
        fc.oneof(
          good,
          good.map((key) => `"${key}"`),
        ),
      )
      .map((line) => [line]),
  },
  { weight: 2, arbitrary: fc.tuple(name, fc.oneof(broken, structured)).map((line) => [line]) },
  { weight: 1, arbitrary: fc.array(fc.tuple(name, fc.oneof(good, broken, structured)), { maxLength: 40 }) },
);
