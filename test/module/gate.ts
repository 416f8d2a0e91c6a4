export interface Gate {
  /** Resolves when the gate opens. */
  readonly passed: Promise<void>;
  open(): void;
}

/** Something to wait at, until the test says go. */
export function gate(): Gate {
  let open!: () => void;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

const GIVE_UP_AFTER_MS = 10_000;

/** Looks again and again until `isThere` finds something truthy, and returns it; gives up loudly. */
export async function eventually<T>(
  what: string,
  isThere: () => T | null | undefined | Promise<T | null | undefined>,
): Promise<NonNullable<T>> {
  const start = performance.now();
  for (;;) {
    const found = await isThere();
    if (found) return found;
    if (performance.now() - start > GIVE_UP_AFTER_MS) throw new Error(`It never came to this: ${what}.`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
