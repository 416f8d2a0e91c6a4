import { Refusal } from '../scripts/foreground/refusal.js';

/** The number that an option was given. */
export function positive(option, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Refusal(`--${option} ${text}: not a whole number above zero.`);
}
