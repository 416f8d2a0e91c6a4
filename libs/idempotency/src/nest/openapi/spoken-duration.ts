const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** A length of time in words and without rounding, in the largest unit of which it is a whole number: `36 hours`. */
export function spokenDuration(ms: number): string {
  const [name, unitMs] = UNITS.find(([, unitMs]) => ms % unitMs === 0) ?? UNITS[3];
  const count = ms / unitMs;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
