import { constants } from 'node:os';

/** The exit code by which a shell reports the end by a signal. */
export const exitCodeOf = (signal) => 128 + constants.signals[signal];

/** The reason of the AbortSignal that `listenForInterruption` gives. */
export class Interrupted extends Error {
  name = 'Interrupted';

  constructor(signal) {
    super(`interrupted by ${signal}`);
    this.exitCode = exitCodeOf(signal);
  }
}

/** An AbortSignal that aborts at the first SIGINT, SIGTERM or SIGHUP; later ones change nothing. */
export function listenForInterruption() {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => controller.abort(new Interrupted(signal)));
  }
  return controller.signal;
}
