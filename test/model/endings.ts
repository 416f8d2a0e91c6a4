/** How a handler can end, and what is to become of its work then. */
export interface Ending {
  /** Whether the handler returned, as far as it could see. */
  readonly how: 'returns' | 'throws';
  /** The status its client gets. */
  readonly status: number;
  /** The answer is a problem of the library with this code; otherwise it is the application's own. */
  readonly code?: string;
  /**
   * - `commit`: the work stands, with its answer, if it can be committed
   * - `record`: the work is undone, its answer stands
   * - `release`: nothing stays
   */
  readonly then: 'commit' | 'record' | 'release';
}

export type EndingName = keyof typeof ENDINGS;

export const ENDINGS = {
  done: { how: 'returns', status: 201, then: 'commit' },
  'done, nothing to say': { how: 'returns', status: 204, then: 'commit' },
  'chose a refusal': { how: 'returns', status: 404, then: 'commit' },
  'chose a failure': { how: 'returns', status: 502, then: 'release' },
  refused: { how: 'throws', status: 422, then: 'record' },
  'refused as a conflict': { how: 'throws', status: 409, then: 'record' },
  'refused as not found': { how: 'throws', status: 404, then: 'record' },
  unauthorized: { how: 'throws', status: 401, then: 'release' },
  'too early': { how: 'throws', status: 425, then: 'release' },
  throttled: { how: 'throws', status: 429, then: 'release' },
  unavailable: { how: 'throws', status: 503, then: 'release' },
  'of an error': { how: 'throws', status: 500, then: 'release' },
  'made a success by a filter': { how: 'throws', status: 200, then: 'release' },
  'gave way to another transaction': {
    how: 'throws',
    status: 503,
    code: 'idempotency-work-conflict',
    then: 'release',
  },
  'returned what nobody can serialise': { how: 'returns', status: 500, then: 'release' },
  'swallowed a database error': { how: 'returns', status: 500, code: 'idempotency-work-broken', then: 'commit' },
} as const satisfies Record<string, Ending>;

export const ENDING_NAMES = Object.keys(ENDINGS) as EndingName[];
