import type { ColumnOptions } from 'typeorm';

/**
 * A column of money: an integer in the currency's minor unit.
 *
 * The driver returns bigint as text, since it may exceed what a number holds. Ours may not: every amount is bounded
 * by `Number.MAX_SAFE_INTEGER` on its way in, and a balance that outgrew it would be read wrong, so it is refused.
 */
export const minorUnits = {
  type: 'bigint',
  transformer: { to: (amount: number) => amount, from: fromBigint },
} satisfies ColumnOptions;

export function fromBigint(stored: string): number {
  const amount = Number(stored);
  if (!Number.isSafeInteger(amount)) throw new RangeError(`${stored} is not an amount this app can hold`);
  return amount;
}
