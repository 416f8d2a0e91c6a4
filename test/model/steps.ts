import fc from 'fast-check';
import { expire, lapse, overtake, sweep } from './changes.js';
import { ENDING_NAMES } from './endings.js';
import { cut, end, hangUp, timeOut } from './happenings.js';
import type { Model } from './model.js';
import { ENDPOINT_NAMES, KEYS, NONSENSE, type Operation, TENANTS } from './operations.js';
import { again, nonsense, request } from './requests.js';
import type { World } from './world.js';

/** Any of all operations, some of them more often. */
export const anyOperation: fc.Arbitrary<Operation> = fc.record({
  tenant: weighted(TENANTS[0], TENANTS[1]),
  endpoint: fc.constantFrom(...ENDPOINT_NAMES),
  key: weighted(KEYS[0], KEYS[1]),
});

/** What can happen to these operations, the likelier the more is to be learnt from it. */
export function steps(operation: fc.Arbitrary<Operation>): fc.Arbitrary<fc.AsyncCommand<Model, World>>[] {
  const pick = fc.nat(5);
  const asked = weighted<'a' | 'b' | 'unfit'>('a', 'b', 'unfit');
  const spelling = fc.record({ isKeyQuoted: fc.boolean(), isTurned: fc.boolean() });
  const aRequest = fc.tuple(operation, asked, spelling).map(([whose, what, how]) => request(whose, what, how));
  const anAgain = fc.tuple(pick, weighted(true, false), spelling).map(([at, isSame, how]) => again(at, isSame, how));
  const anEnd = fc.tuple(pick, fc.constantFrom(...ENDING_NAMES)).map(([at, ending]) => end(at, ending));
  const aSuccess = pick.map((at) => end(at, 'done'));
  return [
    ...often(2, aRequest),
    ...often(3, anAgain),
    ...often(2, anEnd),
    ...often(2, aSuccess),
    pick.map(hangUp),
    pick.map(timeOut),
    fc.tuple(pick, fc.boolean()).map(([at, isAsked]) => cut(at, isAsked)),
    pick.map(lapse),
    ...often(2, pick.map(overtake)),
    ...often(2, pick.map(expire)),
    fc.constant(sweep()),
    fc.constantFrom(...(Object.keys(NONSENSE) as (keyof typeof NONSENSE)[])).map(nonsense),
  ];
}

/** The usual in three of four cases, else one of the others. */
function weighted<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

function often<T>(times: number, one: T): T[] {
  return Array<T>(times).fill(one);
}
