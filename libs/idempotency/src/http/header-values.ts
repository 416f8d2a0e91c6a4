/** The values of all lines of this name in a raw header list, in order; Node would join them, or drop all but one. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const lowerCased = name.toLowerCase();
  const values: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.toLowerCase() === lowerCased) values.push(rawHeaders[i + 1]!);
  }
  return values;
}
