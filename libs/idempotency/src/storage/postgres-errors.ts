/** The SQLSTATE of a database error, also of one that TypeORM wrapped; undefined for everything else. */
export function sqlState(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, driverError } = error as { code?: unknown; driverError?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return code;
  return driverError === undefined ? undefined : sqlState(driverError);
}

/** The row is locked, by a completion that is committing: its state is about to change. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** An earlier statement of the transaction failed: all it can do now is roll back. */
export const IN_FAILED_TRANSACTION = '25P02';

/** The statement had to give way to another transaction and can simply be tried again. */
export function isConflict(error: unknown): boolean {
  const state = sqlState(error);
  return state === '40001' || state === '40P01';
}

/**
 * Whether the connection can no longer be trusted to be in the state we left it in.
 *
 * Only an answer of the server, other than of its own shutting down (class 57P) or of the session's end (08, 25P03,
 * 57P05), says that it is still there and listening.
 */
export function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith('57P') || state.startsWith('08') || state === '25P03';
}
