/** One header line as it went over the wire; repeats stay separate lines, in order. */
export type RecordedHeader = readonly [name: string, value: string];

/**
 * Why a recording has no body although the answer had one.
 *
 * - `too_large`: longer than the recording limit
 * - `client_left`: the client hung up while the body was being streamed
 * - `not_seen`: someone else answered the client, so the work's own answer never reached the wire
 * - `expired`: it was kept for as long as it was to be replayed; what is left says that the key was used
 */
export type Omission = 'too_large' | 'client_left' | 'not_seen' | 'expired';

/** The stored answer of an operation: what a retry is given back. */
export interface Recording {
  readonly status: number;
  readonly headers: readonly RecordedHeader[];
  /** The body's bytes before any content coding; null when there was none or it was omitted. */
  readonly body: Uint8Array | null;
  readonly omitted: Omission | null;
  /** Names the key that the body is encrypted under; absent where it is kept as it was sent. */
  readonly keyId?: string;
  /** Where the result lives, such as the answer's `Location`; null when nothing names it. */
  readonly resource: string | null;
}
