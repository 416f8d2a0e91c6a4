import fc from 'fast-check';

import type { Message } from './message.js';
import { Choices, type Json, LOOKALIKES, spellEncoded, spellJson, spellMediaType, spellPairs } from './spelling.js';

const JSON_TYPE = 'application/json';
const MERGE_PATCH_TYPE = 'application/merge-patch+json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** What a request asks, before it is spelled in one of many ways. */
export interface Asked {
  readonly id: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly body: AskedBody;
}

export type AskedBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'empty'; readonly mediaType: string }
  | { readonly kind: 'json'; readonly mediaType: string; readonly json: Json }
  | { readonly kind: 'form'; readonly pairs: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: readonly number[] };

/** Two requests: the second asks the same as the first, or almost the same, and both are spelled in some way. */
export const pairs: fc.Arbitrary<readonly [first: Message, second: Message]> = fc
  .record({ asked: askedArbitrary(), change: changeArbitrary(), first: drawn(), second: drawn() })
  .map(({ asked, change, first, second }) => [
    spell(asked, new Choices(first)),
    spell(change(asked), new Choices(second)),
  ]);

function drawn(): fc.Arbitrary<number[]> {
  return fc.array(fc.nat(59), { minLength: 24, maxLength: 24 });
}

function askedArbitrary(): fc.Arbitrary<Asked> {
  return fc.record({ id: idArbitrary(), query: namedArbitrary(), body: bodyArbitrary() });
}

function idArbitrary(): fc.Arbitrary<string> {
  return fc.constantFrom('1', '2', 'a b', 'a+b', 'é', 'e\u0301', '%31', '1.0');
}

function namedArbitrary(): fc.Arbitrary<(readonly [string, string])[]> {
  const name = fc.constantFrom('a', 'b', 'a[]', 'a[b]', 'é', 'toString', '__proto__');
  return fc.array(fc.tuple(name, fc.constantFrom('', '1', '2', '1,2', 'null', 'a&b=c')), { maxLength: 3 });
}

function bodyArbitrary(): fc.Arbitrary<AskedBody> {
  return fc.oneof(
    fc.constant({ kind: 'none' } as const),
    fc.record({ kind: fc.constant('empty' as const), mediaType: fc.constantFrom(JSON_TYPE, FORM_TYPE, 'text/plain') }),
    { weight: 5, arbitrary: jsonBodyArbitrary() },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('form' as const), pairs: namedArbitrary() }) },
    fc.record({
      kind: fc.constant('text' as const),
      text: fc.constantFrom('a', '1', 'é', 'e\u0301', '{}', ' a', '""'),
    }),
    fc.record({
      kind: fc.constant('bytes' as const),
      bytes: fc.array(fc.constantFrom(0, 97, 195, 255), { maxLength: 3 }),
    }),
  );
}

function jsonBodyArbitrary(): fc.Arbitrary<AskedBody> {
  const mediaType = fc.constantFrom(JSON_TYPE, JSON_TYPE, MERGE_PATCH_TYPE);
  return fc.record({ kind: fc.constant('json' as const), mediaType, json: jsonArbitrary() });
}

function leafArbitrary(): fc.Arbitrary<Json> {
  return fc.constantFrom(...LOOKALIKES).chain((line) => fc.constantFrom(...line));
}

function jsonArbitrary(): fc.Arbitrary<Json> {
  const name = fc.constantFrom('a', 'b', '', '1', '10', 'é', '__proto__', 'constructor', 'toJSON', 'length');
  const { json } = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 3 },
      leafArbitrary(),
      fc.array(tie('json'), { maxLength: 3 }).map((items): Json => ({ kind: 'array', items })),
      fc
        .uniqueArray(fc.tuple(name, tie('json')), { maxLength: 4, selector: ([of]) => of })
        .map((members): Json => ({ kind: 'object', members })),
    ),
  }));
  return json;
}

/** Nothing most of the time, else one part in place of another. */
function changeArbitrary(): fc.Arbitrary<(asked: Asked) => Asked> {
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant((asked: Asked) => asked) },
    idArbitrary().map((id) => (asked: Asked) => ({ ...asked, id })),
    namedArbitrary().map((query) => (asked: Asked) => ({ ...asked, query })),
    fc.constant((asked: Asked) => ({ ...asked, query: [...asked.query].reverse() })),
    bodyArbitrary().map((body) => (asked: Asked) => ({ ...asked, body })),
    {
      weight: 4,
      arbitrary: fc
        .record({ at: fc.nat(7), another: leafArbitrary(), to: fc.nat() })
        .map(({ at, another, to }) => (asked: Asked) => ({
          ...asked,
          body: withOneReplaced(asked.body, at, (leaf) => lookalikeOf(leaf, to) ?? another),
        })),
    },
  );
}

/** Another value of its line; undefined where it stands in none. */
function lookalikeOf(leaf: Json, at: number): Json | undefined {
  const lines = LOOKALIKES.filter((line) => line.includes(leaf));
  const others = lines.flat().filter((other) => other !== leaf);
  return others[at % others.length];
}

/** The body with another value in one place; other bodies than JSON stay as they are. */
function withOneReplaced(body: AskedBody, at: number, replace: (leaf: Json) => Json): AskedBody {
  if (body.kind !== 'json') return body;
  const count = leavesIn(body.json);
  let left = count === 0 ? -1 : at % count;
  const replaced = (json: Json): Json => {
    if (isLeaf(json)) return left-- === 0 ? replace(json) : json;
    if (json.kind === 'array') return { ...json, items: json.items.map(replaced) };
    if (json.kind === 'object')
      return { ...json, members: json.members.map(([name, value]) => [name, replaced(value)]) };
    return json;
  };
  return { ...body, json: replaced(body.json) };
}

function leavesIn(json: Json): number {
  if (isLeaf(json)) return 1;
  if (json.kind === 'array') return json.items.reduce((sum, item) => sum + leavesIn(item), 0);
  return json.kind === 'object' ? json.members.reduce((sum, [, value]) => sum + leavesIn(value), 0) : 0;
}

function isLeaf(json: Json): boolean {
  return LOOKALIKES.some((line) => line.includes(json));
}

function spell({ id, query, body }: Asked, choices: Choices): Message {
  const search = spellPairs(query, choices);
  const target = `/given/${spellEncoded(id, choices)}${search && `?${search}`}`;
  const noise = choices.of([[], [['User-Agent', 'retry/2']], [['Accept', '*/*']]] as const);
  const { headers = [], ...message } = spellBody(body, choices);
  return { target, ...message, headers: [...headers, ...noise] };
}

function spellBody(body: AskedBody, choices: Choices): Omit<Message, 'target'> {
  const typed = (mediaType: string) => [['Content-Type', spellMediaType(mediaType, choices)] as const];
  const framing = choices.of(['length', 'length', 'chunked'] as const);
  switch (body.kind) {
    case 'none':
      return choices.of([{}, {}, { body: '', framing: 'length' }, { body: '', framing: 'chunked' }]);
    case 'empty':
      return { headers: typed(body.mediaType), body: '', framing };
    case 'json':
      return { headers: typed(body.mediaType), body: spellJson(body.json, choices), framing };
    case 'form':
      return { headers: typed(FORM_TYPE), body: spellPairs(body.pairs, choices), framing };
    case 'text':
      return { headers: typed('text/plain'), body: body.text, framing };
    case 'bytes':
      return { headers: [['Content-Type', 'application/octet-stream']], body: Buffer.from(body.bytes), framing };
  }
}
