import { setTimeout } from 'node:timers/promises';

/** Resolves as soon as something is so; rejects when it is not within twenty seconds. */
export async function shortly(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('It did not come to that within 20 s.');
    await setTimeout(20);
  }
}
