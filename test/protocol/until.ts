/** Asks again until the answer is yes; rejects, naming what was awaited, when that takes too long. */
export async function until(what: string, isSo: () => Promise<boolean>, limitMs = 20_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain: ${what}.`);
  }
}
