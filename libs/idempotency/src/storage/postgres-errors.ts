/** The SQLSTATE of a database error, also of one that TypeORM wrapped; undefined for everything else. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, severity, driverError } = error as { code?: unknown; severity?: unknown; driverError?: unknown };
  // Codes of the operating system, such as EPIPE, look the same; only the server tells a severity.
  if (typeof code === 'string' && typeof severity === 'string') return code;
  return driverError === undefined ? undefined : sqlState(driverError);
}

/** The row is locked, by a completion that is committing: its state is about to change. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** By a timeout of the server, or by somebody. */
export const QUERY_CANCELED = '57014';

/** An earlier statement of the transaction failed: all it can do now is roll back. */
export const IN_FAILED_TRANSACTION = '25P02';

/** How many causes an error may be wrapped in to be recognised still. */
const MAX_CAUSES = 5;

/** A deadlock or a serialization failure, wrapped or not: the transaction had to give way and can be tried again. */
export function isConflict(error: unknown): boolean {
  let at = error;
  for (let depth = 0; depth <= MAX_CAUSES; depth++) {
    const state = sqlState(at);
    if (state === '40001' || state === '40P01') return true;
    if (typeof at !== 'object' || at === null || !('cause' in at)) return false;
    at = at.cause;
  }
  return false;
}

/** Our prepared statement is gone, or no longer fits: the connection is not the one it was prepared on. */
const STATEMENT_LOST = new Set(['26000', '0A000']);

/**
 * Whether the connection can no longer be trusted to be in the state we left it in.
 *
 * Only an answer of the server, other than of its own shutting down (class 57P) or of the session's end (08, 25P03),
 * says that it is still there and listening.
 */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  if (state === undefined || STATEMENT_LOST.has(state)) return true;
  return state.startsWith('57P') || state.startsWith('08') || state === '25P03';
}
