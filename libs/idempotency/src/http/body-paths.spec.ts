import { isDeepStrictEqual } from 'node:util';

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { bodyPath, partAt, pointerTo, without } from './body-paths.js';

const at = (whole: unknown, pointer: string) => partAt(whole, bodyPath(pointer)!);
const omitting = (whole: unknown, ...pointers: string[]) =>
  without(
    whole,
    pointers.map((pointer) => bodyPath(pointer)!),
  );

describe('bodyPath', () => {
  it.each(['', '/', '//', '/a/0/b', '/a~1b/m~0n', '/~01', '/ ', '/%25', '/é'])(
    'takes %j apart and together',
    (pointer) => {
      expect(pointerTo(bodyPath(pointer)!)).toBe(pointer);
    },
  );

  it.each(['a', 'a/b', '#/a', '/a~', '/~2', '/a~b/c'])('is none for %j', (pointer) => {
    expect(bodyPath(pointer)).toBeNull();
  });
});

describe('partAt', () => {
  // The document and the pointers of RFC 6901, section 5.
  const document: unknown = JSON.parse(
    '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}',
  );
  it.each<[pointer: string, part: unknown]>([
    ['', document],
    ['/foo', ['bar', 'baz']],
    ['/foo/0', 'bar'],
    ['/', 0],
    ['/a~1b', 1],
    ['/c%d', 2],
    ['/e^f', 3],
    ['/g|h', 4],
    ['/i\\j', 5],
    ['/k"l', 6],
    ['/ ', 7],
    ['/m~0n', 8],
  ])('finds %j', (pointer, part) => {
    expect(at(document, pointer)).toEqual({ part });
  });

  it.each([
    '/bar',
    '/foo/2',
    '/foo/-',
    '/foo/00',
    '/foo/-1',
    '/foo/length',
    '/foo/0/0',
    '/toString',
    '/constructor/prototype',
    '/__proto__',
    '/foo/__proto__',
  ])('finds nothing at %s', (pointer) => {
    expect(at(document, pointer)).toBeNull();
  });

  it('tells null from nothing', () => {
    expect(at({ a: null }, '/a')).toEqual({ part: null });
    expect(at(null, '/a')).toBeNull();
  });

  it('finds members that are named like those of a prototype', () => {
    expect(at(JSON.parse('{"__proto__":{"constructor":1}}'), '/__proto__/constructor')).toEqual({ part: 1 });
  });
});

describe('without', () => {
  it.each<[json: string, pointers: string[], left: string]>([
    ['{"a":1,"b":{"c":2,"d":3}}', ['/b/c'], '{"a":1,"b":{"d":3}}'],
    ['{"a":1,"b":{"c":2}}', ['/b/c', '/b'], '{"a":1}'],
    ['{"a":1,"b":{"c":2}}', ['/b', '/b/c', '/b'], '{"a":1}'],
    ['[[1],[2],[3]]', ['/0', '/2/0'], '[[2],[]]'],
    ['{"a":1}', ['/b', '/a/b', '/__proto__', '/toString/x'], '{"a":1}'],
    ['{"__proto__":{"a":1,"b":2}}', ['/__proto__/a'], '{"__proto__":{"b":2}}'],
    ['{"a":{"__proto__":1},"b":2}', ['/b'], '{"a":{"__proto__":1}}'],
    ['5', ['/a'], '5'],
  ])('makes of %s without %j: %s', (json, pointers, left) => {
    expect(JSON.stringify(omitting(JSON.parse(json), ...pointers))).toBe(left);
  });

  it('leaves nothing of the whole', () => {
    expect(omitting({ a: 1 }, '/a', '')).toBeUndefined();
  });

  it('leaves the original as it is, and everything that no path leads to', () => {
    const name = fc.constantFrom('a', 'b', '0', '1', '__proto__');
    const paths = fc.array(fc.array(name, { minLength: 1, maxLength: 3 }), { maxLength: 3 });
    const { whole } = fc.letrec((tie) => ({
      whole: fc.oneof(
        { depthSize: 'small' },
        fc.nat(1),
        fc.array(tie('whole'), { maxLength: 3 }),
        fc.dictionary(name, tie('whole'), { maxKeys: 3, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(whole, paths, (original, omitted) => {
        const before = JSON.stringify(original);
        const left = without(original, omitted);
        expect(JSON.stringify(original)).toBe(before);
        // Where nothing was there to leave out, everything is left.
        const isHarmless = omitted.every((path) => partAt(original, path) === null);
        expect(isDeepStrictEqual(left, original)).toBe(isHarmless);
      }),
    );
  });
});
