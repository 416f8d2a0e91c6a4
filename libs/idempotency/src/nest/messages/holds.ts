import { Pauses } from '../../core/patience.js';

/** How long a message is held when the application is shutting down, in milliseconds. */
const CLOSING_HOLD_MS = 1_000;

/**
 * Messages that are held before they are given back to their broker.
 *
 * A broker delivers again at once what it is given back, so the pause before that has to be made here. A message that
 * is held is not lost when the process dies: the broker has not been told anything of it.
 */
export class Holds {
  private readonly pauses = new Pauses();
  private hasClosed = false;

  get isClosing(): boolean {
    return this.hasClosed;
  }

  /** Resolves after `ms` milliseconds, or sooner when the application shuts down. */
  hold(ms: number): Promise<void> {
    return this.pauses.for(this.hasClosed ? Math.min(ms, CLOSING_HOLD_MS) : ms);
  }

  close(): void {
    this.hasClosed = true;
    this.pauses.endAll();
  }
}
