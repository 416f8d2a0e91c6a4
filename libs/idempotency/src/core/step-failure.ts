import type { StepFailure } from './step-terms.js';

/** Refused for now, or for who asked: the same call may be accepted at another time. */
const NOT_NOW = new Set([401, 403, 429]);

/** The answer does not say whether the request that it answers, or an earlier one like it, was carried out. */
const UNDECIDED = new Set([408, 409, 424, 425]);

/** What fails in making a connection: nothing was sent. The same codes can end one that was made. */
const CONNECTING = new Set<unknown>(['connect', 'getaddrinfo']);

/** The same, as the client under `fetch` names it. */
const NEVER_CONNECTED = 'UND_ERR_CONNECT_TIMEOUT';

/** How deep an error's causes are looked at. */
const MAX_CAUSES = 5;

/**
 * What an HTTP status says of a call that changes something.
 *
 * 401, 403 and 429 had no effect; 408, 409, 424, 425 and everything from 500 on is unknown; other 4xx are refusals.
 */
export function failureOfStatus(status: number): StepFailure {
  if (NOT_NOW.has(status)) return 'no_effect';
  return status >= 400 && status < 500 && !UNDECIDED.has(status) ? 'refused' : 'unknown';
}

/**
 * What a thrown error says of a call: by the status that it carries (`status`, `statusCode` or `response.status`), or
 * that it had no effect where no connection was made. Everything else is unknown.
 */
export function failureOf(error: unknown): StepFailure {
  let at = error;
  for (let depth = 0; depth <= MAX_CAUSES && typeof at === 'object' && at !== null; depth++) {
    const { status, statusCode, response, cause } = at as {
      readonly status?: unknown;
      readonly statusCode?: unknown;
      readonly response?: { readonly status?: unknown } | null;
      readonly cause?: unknown;
    };
    const found = [status, statusCode, response?.status].find((value) => typeof value === 'number');
    if (found !== undefined) return failureOfStatus(found);
    if (wasNeverSent(at)) return 'no_effect';
    at = cause;
  }
  return 'unknown';
}

/** An error in making the connection, or one for each address that was tried. */
function wasNeverSent(error: object): boolean {
  const { code, syscall, errors } = error as {
    readonly code?: unknown;
    readonly syscall?: unknown;
    readonly errors?: unknown;
  };
  if (CONNECTING.has(syscall) || code === NEVER_CONNECTED) return true;
  if (!(error instanceof AggregateError) || !Array.isArray(errors) || errors.length === 0) return false;
  return errors.every((one) => typeof one === 'object' && one !== null && wasNeverSent(one as object));
}
