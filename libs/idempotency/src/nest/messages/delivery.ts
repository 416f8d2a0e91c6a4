import type { Observable } from 'rxjs';

import type { Envelope } from '../../messaging/envelope.js';
import type { Settlement } from '../../messaging/settlement.js';
import type { Holds } from './holds.js';

/** The pause before a message is delivered again that could not be put aside, in milliseconds. */
export const PARK_RETRY_MS = 5_000;

/** One delivery of a message to a handler, as its transport has it. */
export interface Delivery {
  readonly envelope: Envelope;
  /** Called before the handler can see the delivery: from here on it is the library that settles it. */
  takeOver?(): void;
  /** Rejects what a handler must not return, because the transport would take it for an instruction. */
  assertReturnable?(value: unknown): Promise<void>;
  /** Tells the transport what to do with the message; resolves to what the handler's caller is given, or rejects. */
  settle(settlement: Settlement, terms: SettlingTerms): Promise<Observable<unknown>>;
}

/** What a delivery is settled with. */
export interface SettlingTerms {
  readonly holds: Holds;
  /**
   * Takes a message that is parked, where the application has a place for such; undefined where it has none.
   *
   * False where it could not be put there: it has to be delivered again, after `PARK_RETRY_MS`.
   */
  readonly park: (() => Promise<boolean>) | undefined;
}
