import { constants } from 'node:os';
import { watchNpm } from './npm-process.js';

const NPM_WATCH_MS = 250;

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

/** An AbortSignal that aborts at the first SIGINT, SIGTERM or SIGHUP, or when npm has gone; later ones change nothing. */
export function listenForInterruption() {
  const controller = new AbortController();
  const interrupt = (signal) => controller.abort(new Interrupted(signal));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, interrupt);

  const hasNpm = watchNpm();
  setInterval(() => hasNpm() || interrupt('SIGTERM'), NPM_WATCH_MS).unref();
  return controller.signal;
}
