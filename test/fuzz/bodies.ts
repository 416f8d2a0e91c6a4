import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';

const DEPTHS = [511, 513, 9_000, 9_500, 40_000];
const NUMBERS = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '00',
  '01',
  '1.',
  '.5',
  '+1',
  'NaN',
  '0x10',
  '9'.repeat(400),
  '12345678901234567890',
];
const MEMBERS = [
  'a',
  'b',
  '',
  '0',
  'id',
  '__proto__',
  'constructor',
  'prototype',
  'toJSON',
  'then',
  'length',
  'toString',
  'pipe',
  'getStream',
];

const jsonLeaf = fc.oneof(
  fc.constantFrom('1', 'null', 'true', '"a"', '""', '[]', '{}', ...NUMBERS),
  fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"', '"\\u0000"', '"\\x"', '"\t"', "'a'", 'undefined', '//', '"a'),
);

const json = fc.oneof(
  jsonLeaf,
  fc.json(),
  fc.constantFrom(...DEPTHS).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc
    .array(fc.tuple(fc.constantFrom(...MEMBERS), jsonLeaf), { maxLength: 5 })
    .map((members) => `{${members.map(([name, value]) => `"${name}":${value}`).join()}}`),
  fc.array(jsonLeaf, { maxLength: 4 }).map((items) => `[${items.join()}]`),
  fc.constantFrom(...MEMBERS).map((name) => `{"${name}":{"${name}":{"a":1}}}`),
  fc.constantFrom(...DEPTHS).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.constantFrom(...DEPTHS).map((depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
  fc.constantFrom('\ufeff{}', ' {}\n', '{"a":1,"a":2}', '{"a":1}{"a":1}', '{,}', '[1,]', '{"a"', '[', '{"a":1e', 'nul'),
);

const form = fc.oneof(
  fc.constantFrom(
    'a=1',
    'a',
    '=',
    '&',
    'a=1&a=2',
    'a[]=1&a[]=2',
    'a[b][c]=1',
    'a=%',
    'a=%zz',
    '%c0%af=1',
    'a=%00',
    '__proto__[b]=1',
  ),
  fc.constantFrom(
    'constructor[prototype][b]=1',
    'a[__proto__][b]=1',
    'hasOwnProperty=1',
    'a[toString]=1',
    'a.b=1',
    'a[0]=1&a[b]=2',
  ),
  fc.constantFrom(900, 1_001, 5_000).map((times) => 'a=1&'.repeat(times)),
  fc.constantFrom(900, 1_001, 5_000).map((times) => 'a[]=1&'.repeat(times)),
  fc.constantFrom(5, 40, 5_000).map((depth) => `a${'[b]'.repeat(depth)}=1`),
  fc.constantFrom(20, 2_000_000).map((index) => `a[${index}]=1`),
);

const multipart = fc.constantFrom(
  '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
  '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1',
  '--x\r\nContent-Disposition: form-data; name="__proto__"; filename="../../a"\r\n\r\n\0\r\n--x--',
  '--y\r\n\r\n--x--',
  '--x--',
  '--x\r\n',
);

const text = fc.oneof(json, form, multipart).map((all) => Buffer.from(all));
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 60 }).map((all) => Buffer.from(all)),
  // No UTF-8: cut off, overlong, a surrogate, beyond the last character.
  fc
    .constantFrom('7b2261223a22c3227d', '22c0af22', '22eda08022', '22f4908080 22', 'ff', 'fffe7b007d00')
    .map((hex) => Buffer.from(hex.replace(/ /g, ''), 'hex')),
  fc.constantFrom(90_000, 110_000, 300_000).map((length) => Buffer.from(`"${'x'.repeat(length)}"`)),
);

/** What stands in a body, before any coding; often cut off. */
export const bodies: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 2, arbitrary: bytes },
  { weight: 2, arbitrary: fc.tuple(text, fc.nat(100)).map(([all, length]) => all.subarray(0, length)) },
  { weight: 2, arbitrary: fc.constant(Buffer.alloc(0)) },
);

const CODINGS: Readonly<Record<string, (body: Buffer) => Buffer>> = {
  gzip: (body) => gzipSync(body),
  'x-gzip': (body) => gzipSync(body),
  deflate: (body) => deflateSync(body),
  br: (body) => brotliCompressSync(body),
  identity: (body) => body,
};

/** A body in a content coding, or one that only says so. */
export function encoded(body: Buffer): fc.Arbitrary<{ readonly coding: string | null; readonly content: Buffer }> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constant({ coding: null, content: body }) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(...Object.keys(CODINGS))
        .map((coding) => ({ coding, content: CODINGS[coding]!(body) })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('gzip', 'deflate', 'br', 'identity', 'gzip, gzip', 'GZIP', 'compress', '', ',', '*')
        .map((coding) => ({ coding, content: body })),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom(1, 10, 20)
        .map((length) => ({ coding: 'gzip', content: gzipSync(body).subarray(0, length) })),
    },
  );
}
