import { referredBy } from '../charges/charge-id.js';

/**
 * What the bank tells of money that has arrived: a CloudEvent (1.0, structured), whose source and id say which event it
 * is.
 *
 * They stand in the event itself, so it is the same event whichever broker brings it, and whoever has put it aside and
 * sends it again. A field of the transport's own, such as AMQP's `message-id`, is lost on the way from one broker to
 * another; and by `Nats-Msg-Id` the server drops what comes again within two minutes, which says nothing of what comes
 * later.
 */
export interface SettlementEvent {
  readonly specversion: '1.0';
  readonly type: typeof SETTLEMENT_ARRIVED;
  readonly source: string;
  readonly id: string;
  readonly data: SettlementData;
}

export interface SettlementData {
  /** The bank's name for it. */
  readonly id: string;
  /** What the card provider was told to call the charge. */
  readonly charge: string;
  /** In the currency's minor unit. */
  readonly amount: number;
  readonly currency: string;
  /** ISO 8601. */
  readonly settledAt: string;
}

export const SETTLEMENT_ARRIVED = 'settlement.arrived';

/** The one bank that the demo has an account with. */
export const BANK_SOURCE = '/banks/demo';

/** Whose event it is; undefined where it comes from no bank of ours. */
export function bankOf(payload: unknown): 'bank' | undefined {
  return membersOf(payload)['source'] === BANK_SOURCE ? 'bank' : undefined;
}

/** What has arrived, and for which charge. */
export interface ArrivedSettlement extends Omit<SettlementData, 'charge' | 'settledAt'> {
  readonly merchantId: string;
  readonly chargeId: string;
  readonly settledAt: Date;
}

/** @throws {Error} for an event of another kind, or a part of one. */
export function settlementIn(payload: unknown): ArrivedSettlement {
  const { type, data } = membersOf(payload);
  const { id, charge, amount, currency, settledAt } = membersOf(data);
  const referred = typeof charge === 'string' ? referredBy(charge) : undefined;
  if (
    type !== SETTLEMENT_ARRIVED ||
    !isText(id) ||
    !referred ||
    !isAmount(amount) ||
    !isText(currency) ||
    !isText(settledAt) ||
    Number.isNaN(Date.parse(settledAt))
  ) {
    throw new Error('The event is no settlement.');
  }
  const { merchantId, id: chargeId } = referred;
  return { id, merchantId, chargeId, amount, currency, settledAt: new Date(settledAt) };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
