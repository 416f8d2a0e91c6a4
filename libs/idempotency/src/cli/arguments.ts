import { InvalidArgumentError } from 'commander';
import ms, { type StringValue } from 'ms';

/** A duration such as `10m`, in milliseconds. */
export function durationArgument(text: string): number {
  const parsed = ms(text as StringValue) as number | undefined;
  if (parsed === undefined || !Number.isFinite(parsed) || parsed <= 0) {
    throw new InvalidArgumentError('Give a duration, such as 30s, 10m or 2h.');
  }
  return parsed;
}

/** A whole number from 1 on. */
export function countArgument(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Give a whole number, at least 1.');
}

export function hashArgument(text: string): string {
  if (/^[0-9a-f]{16}$/.test(text)) return text;
  throw new InvalidArgumentError('Give the 16 hexadecimal digits that a log line names an operation by.');
}

export function jsonArgument(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError('Give the value that the step is to return as JSON, such as \'{"id":"ch_1"}\'.');
  }
}
