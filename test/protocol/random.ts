/** Choices that depend on a seed and on nothing else: the same seed makes the same ones, whatever runs beside them. */
export interface Choices {
  /** True in `share` of all cases, 0 to 1. */
  chance(share: number): boolean;
  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number;
  oneOf<T>(options: readonly [T, ...T[]]): T;
}

/** The choices of one place, such as round 7, client 2, try 1. */
export function choicesFor(seed: number, ...place: number[]): Choices {
  let state = place.reduce((mixed, part) => mix(mixed ^ mix(part + 0x9e3779b9)), mix(seed));
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    return (mix(state) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    chance: (share) => next() < share,
    between,
    oneOf: (options) => options[between(0, options.length - 1)] ?? options[0],
  };
}

/** A 32-bit finalizer (MurmurHash3). */
function mix(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
