import type { SettlementEvent } from '../settlement-event.js';

/** Where the bank hands in its events. */
export interface Postbox {
  /** Sends them in this order; resolves when the broker has confirmed every one. */
  send(events: readonly SettlementEvent[]): Promise<void>;
  /** Sends again what lies among the dead letters now, each as it was; resolves to how many. */
  replayDeadLetters(): Promise<number>;
  close(): Promise<void>;
}
