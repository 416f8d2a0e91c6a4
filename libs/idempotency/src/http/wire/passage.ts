import { AsyncLocalStorage } from 'node:async_hooks';
import type { Holding } from './holding.js';

const passage = new AsyncLocalStorage<Holding>();

/**
 * Runs `write` so that every call descending from it reaches the real response.
 *
 * Middleware beneath may go on later (a session is stored first, then the response ends) and through the top of the
 * response, where calls are swallowed by then.
 */
export function letPass<T>(holding: Holding, write: () => T): T {
  return passage.run(holding, write);
}

/** Whether the call being made right now descends from a write that was let pass. */
export function isLetPass(holding: Holding): boolean {
  return passage.getStore() === holding;
}
