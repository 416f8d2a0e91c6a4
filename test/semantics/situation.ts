import type { RecordState } from './records.js';
import type { Stage } from './stage.js';

/** One row of docs/semantics.md, and what proves it. */
export interface Situation {
  /** The row's first cell, word for word. */
  readonly when: string;
  /** What has become of the run in the end, whatever was answered. */
  readonly ends: Ending;
  play(stage: Stage): Promise<void>;
}

/** What the database and the handlers tell of one run. */
export interface Ending {
  /** How often a handler was entered. */
  readonly entries: number;
  /** Rows in the business table; each handler writes one before it does anything else. */
  readonly payments: number;
  /** The state of each of the run's records. */
  readonly records: readonly RecordState[];
}

export const NOTHING_HAPPENED: Ending = { entries: 0, payments: 0, records: [] };
export const PAID_ONCE: Ending = { entries: 1, payments: 1, records: ['completed'] };
export const PAID_BY_RETRY: Ending = { entries: 2, payments: 1, records: ['completed'] };
export const PAID_BY_EACH: Ending = { entries: 2, payments: 2, records: ['completed', 'completed'] };
export const PAID_UNPROTECTED: Ending = { entries: 2, payments: 2, records: [] };
export const REFUSAL_KEPT: Ending = { entries: 1, payments: 0, records: ['completed'] };
