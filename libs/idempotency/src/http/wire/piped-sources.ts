import type { Holding, PipedSource } from './holding.js';

/** Whether a source still has something to give, or failed before it gave everything. */
function isUnfinished(source: PipedSource): boolean {
  return source.readableEnded === undefined ? (source.errored ?? null) !== null : !source.readableEnded;
}

/** Whether the answer is being piped from a source that has not given everything. */
export function hasUnfinishedSource(holding: Holding): boolean {
  if (holding.sources === null) return false;
  for (const source of holding.sources) if (isUnfinished(source)) return true;
  return false;
}

/** Whether something that was piped into the answer has failed. */
export function hasFailedSource(holding: Holding): boolean {
  if (holding.sources === null) return false;
  for (const source of holding.sources) if ((source.errored ?? null) !== null) return true;
  return false;
}

/** Destroys the sources nobody reads any more: a handler that awaits its pipeline would otherwise never return. */
export function dropSources(holding: Holding): void {
  for (const source of holding.sources ?? []) if (isUnfinished(source)) source.destroy?.();
  holding.sources = null;
}
