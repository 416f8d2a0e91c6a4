import ms, { type StringValue } from 'ms';

/** A length of time such as `60s`, `15m`, `24h` or `7d`; see the package `ms` for every form. */
export type Duration = StringValue;

/**
 * A duration in milliseconds, from a string or from a number that already is one.
 *
 * @throws {Error} naming the option, for anything that is not a positive finite time.
 */
export function milliseconds(option: string, given: Duration | number): number {
  const parsed = typeof given === 'number' ? given : parse(given);
  if (!Number.isFinite(parsed) || parsed <= 0) {
    throw new Error(
      `IdempotencyModule: \`${option}\` must be a positive duration, like '60s', or a number of milliseconds ` +
        `under \`${option}Ms\`; it is ${JSON.stringify(given)}.`,
    );
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
