/** How long an attempt waits for one that is under way, and what ends its waiting early. */
export interface Patience {
  /** In milliseconds; 0 to be told at once. */
  readonly patienceMs: number;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

export const NO_PATIENCE: Patience = { patienceMs: 0 };

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * How long to wait before looking again, in milliseconds: doubling from 50 to 1000, and of that a random half to
 * whole, so that those who wait for one operation do not all come back at once.
 */
export function pauseMs(looks: number): number {
  const longest = Math.min(FIRST_PAUSE_MS * 2 ** looks, LONGEST_PAUSE_MS);
  return longest * (0.5 + Math.random() / 2);
}

/** The pauses of all who wait for an operation in progress. */
export class Pauses {
  private readonly ends = new Set<() => void>();

  /** Resolves after `ms` milliseconds, or as soon as `signal` is aborted or all pauses are ended. */
  for(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.ends.delete(end);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      this.ends.add(end);
      signal?.addEventListener('abort', end);
      if (signal?.aborted) end();
    });
  }

  endAll(): void {
    for (const end of this.ends) end();
  }
}
