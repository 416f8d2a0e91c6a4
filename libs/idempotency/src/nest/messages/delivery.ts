import type { Observable } from 'rxjs';

import type { Envelope } from '../../messaging/envelope.js';
import type { Settlement } from '../../messaging/settlement.js';
import type { Holds } from './holds.js';

/** One delivery of a message to a handler, as its transport has it. */
export interface Delivery {
  readonly envelope: Envelope;
  /** Called before the handler can see the delivery: from here on it is the library that settles it. */
  takeOver?(): void;
  /** Tells the transport what to do with the message; resolves to what the handler's caller is given, or rejects. */
  settle(settlement: Settlement, terms: SettlingTerms): Promise<Observable<unknown>>;
}

/** What a delivery is settled with. */
export interface SettlingTerms {
  readonly holds: Holds;
  /** Takes a message that is parked, where the application has a place for such; undefined where it has none. */
  readonly park: (() => Promise<void>) | undefined;
}
