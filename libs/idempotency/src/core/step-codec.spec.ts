import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { decodeStepResult, encodeStepResult, STEP_CODEC_VERSION, type StepResult } from './step-codec.js';

const succeeded = (value: unknown): StepResult => ({ kind: 'succeeded', value });

/** Texts as they lie in tables, written by hand: each must be written so, and read so, for good. */
const KEPT: [result: StepResult, text: string][] = [
  [succeeded(null), '[1,"succeeded",null]'],
  [succeeded(undefined), '[1,"succeeded",{"$":"undefined"}]'],
  [succeeded('a "word" \u0000 and \ud800'), '[1,"succeeded","a \\"word\\" \\u0000 and \\ud800"]'],
  [succeeded(true), '[1,"succeeded",true]'],
  [succeeded(-1.5e21), '[1,"succeeded",-1.5e+21]'],
  [succeeded(-0), '[1,"succeeded",{"$":"number","is":"-0"}]'],
  [succeeded(NaN), '[1,"succeeded",{"$":"number","is":"NaN"}]'],
  [succeeded(-Infinity), '[1,"succeeded",{"$":"number","is":"-Infinity"}]'],
  [succeeded(12345678901234567890n), '[1,"succeeded",{"$":"bigint","is":"12345678901234567890"}]'],
  [succeeded(new Date(1_764_374_400_000)), '[1,"succeeded",{"$":"date","is":1764374400000}]'],
  [succeeded(Uint8Array.of(0, 255)), '[1,"succeeded",{"$":"bytes","is":"AP8="}]'],
  [succeeded([1, [], undefined]), '[1,"succeeded",[1,[],{"$":"undefined"}]]'],
  [
    succeeded({ id: 'ch_1', paid: { at: new Date(0) } }),
    '[1,"succeeded",{"id":"ch_1","paid":{"at":{"$":"date","is":0}}}]',
  ],
  [succeeded({ $: 'date', is: 0 }), '[1,"succeeded",{"$":"object","is":{"$":"date","is":0}}]'],
  [
    { kind: 'refused', message: 'The card was declined.', details: { code: 'card_declined' } },
    '[1,"refused",{"message":"The card was declined.","details":{"code":"card_declined"}}]',
  ],
  [{ kind: 'refused', message: '', details: undefined }, '[1,"refused",{"message":"","details":{"$":"undefined"}}]'],
];

describe('the result of a step', () => {
  it('is of the version that these texts are in', () => {
    expect(STEP_CODEC_VERSION).toBe(1);
  });

  it.each(KEPT)('%j is written as %s', (result, text) => {
    expect(encodeStepResult(result)).toBe(text);
  });

  it.each(KEPT)('%j is read from %s', (result, text) => {
    expect(decodeStepResult(text)).toStrictEqual(result);
  });

  it('comes back as it was, whatever plain data it is', () => {
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double(),
      fc.boolean(),
      fc.bigInt(),
      fc.date({ noInvalidDate: true }),
      fc.uint8Array(),
      fc.constantFrom(null, undefined),
    );
    const name = fc.oneof(fc.string(), fc.constantFrom('$', 'is', '__proto__', 'constructor', 'toJSON'));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        leaf,
        fc.array(tie('value')),
        fc.array(fc.tuple(name, tie('value'))).map((members) => Object.fromEntries(members) as object),
      ),
    }));
    fc.assert(
      fc.property(value, (data) => {
        expect(isDeepStrictEqual(decodeStepResult(encodeStepResult(succeeded(data))), succeeded(data))).toBe(true);
      }),
    );
  });

  it('that is a date without a time comes back as one', () => {
    const text = '[1,"succeeded",{"$":"date","is":null}]';
    expect(encodeStepResult(succeeded(new Date(NaN)))).toBe(text);
    const { value } = decodeStepResult(text) as { value: Date };
    expect([value instanceof Date, value.getTime()]).toEqual([true, NaN]);
  });

  it('of a class that says how it is written comes back as that', () => {
    class Amount {
      constructor(private readonly minor: bigint) {}
      toJSON(): object {
        return { minor: this.minor, at: new Date(0) };
      }
    }
    const kept = decodeStepResult(encodeStepResult(succeeded([new Amount(4999n)])));
    expect(kept).toStrictEqual(succeeded([{ minor: 4999n, at: new Date(0) }]));
  });

  it('refuses a value whose written form contains it', () => {
    const endless = { toJSON: (): object => ({ endless }) };
    expect(() => encodeStepResult(succeeded(endless))).toThrow(TypeError);
  });

  it('of a class comes back as its own members', () => {
    class Charge {
      private readonly secret = 1;
      constructor(readonly id: string) {}
      get isPaid(): boolean {
        return this.secret === 1;
      }
    }
    const kept = decodeStepResult(encodeStepResult(succeeded(new Charge('ch_1'))));
    expect(kept).toStrictEqual(succeeded({ secret: 1, id: 'ch_1' }));
  });

  it('keeps a value that stands at two places, and the holes of an array as undefined', () => {
    const twice = { id: 1 };
    const kept = decodeStepResult(encodeStepResult(succeeded([twice, , twice])));
    expect(kept).toStrictEqual(succeeded([{ id: 1 }, undefined, { id: 1 }]));
  });

  const circle: { self?: unknown } = {};
  circle.self = [circle];
  it.each([
    ['a function', () => 1],
    ['a symbol', { deep: [Symbol('s')] }],
    ['what contains itself', circle],
  ])('is refused where it is %s', (_, value) => {
    expect(() => encodeStepResult(succeeded(value))).toThrow(TypeError);
  });

  it.each(['[2,"succeeded",null]', '["1","succeeded",null]'])('is not guessed at in another version: %s', (text) => {
    expect(() => decodeStepResult(text)).toThrow(/kept in version \d, which this version of the library cannot read/);
  });
});
