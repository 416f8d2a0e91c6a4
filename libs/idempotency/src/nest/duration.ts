import ms, { type StringValue } from 'ms';

/** A length of time such as `60s`, `15m`, `24h` or `7d`; see the package `ms` for every form. */
export type Duration = StringValue;

/** What a timer of Node and a timeout of PostgreSQL can hold: 24 days. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A retention is kept in a row, not in a timer. */
export const LONGEST_RETENTION_MS = 100 * 365 * 24 * 60 * 60 * 1000;

/**
 * A duration in milliseconds, from a string or from a number that already is one.
 *
 * @throws {Error} naming the option, for anything that is not a positive finite time.
 */
export function milliseconds(option: string, given: Duration | number, longestMs = LONGEST_TIMER_MS): number {
  const parsed = typeof given === 'number' ? given : parse(given);
  if (!Number.isFinite(parsed) || parsed <= 0) {
    throw new Error(
      `IdempotencyModule: \`${option}\` must be a positive duration, like '60s', or a number of milliseconds ` +
        `under \`${option}Ms\`; it is ${JSON.stringify(given)}.`,
    );
  }
  if (parsed > longestMs) {
    throw new Error(`IdempotencyModule: \`${option}\` must not be longer than ${ms(longestMs)}.`);
  }
  return Math.ceil(parsed);
}

/** `ms` throws for what is not a string of sane length; to us that is a duration like any other bad one. */
function parse(text: Duration): number {
  try {
    return ms(text);
  } catch {
    return NaN;
  }
}
