import { randomInt, randomUUID } from 'node:crypto';
import { referenceOf } from '../../charges/charge-id.js';
import { acme } from '../../database/demo-merchants.js';
import { BANK_SOURCE, SETTLEMENT_ARRIVED, type SettlementEvent } from '../settlement-event.js';

/** Charges cards through the API, and says of each that its money has arrived. */
export async function settleNewCharges(paymentsUrl: string, count: number): Promise<SettlementEvent[]> {
  const events: SettlementEvent[] = [];
  while (events.length < count) {
    events.push(settlementOf(await charge(paymentsUrl, randomInt(100, 100_000)), new Date()));
  }
  return events;
}

interface TakenCharge {
  readonly id: string;
  readonly captured: number;
  readonly currency: string;
}

async function charge(paymentsUrl: string, amount: number): Promise<TakenCharge> {
  const answer = await fetch(`${paymentsUrl}/charges`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${acme.apiKey}`,
      'Idempotency-Key': randomUUID(),
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ amount, currency: 'usd', card: 'tok_visa' }),
  });
  if (answer.status !== 201) throw new Error(`A charge was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as TakenCharge;
}

function settlementOf({ id, captured, currency }: TakenCharge, settledAt: Date): SettlementEvent {
  return {
    specversion: '1.0',
    type: SETTLEMENT_ARRIVED,
    source: BANK_SOURCE,
    id: randomUUID(),
    data: {
      id: `stl_${randomUUID()}`,
      charge: referenceOf({ merchantId: acme.id, id }),
      amount: captured,
      currency,
      settledAt: settledAt.toISOString(),
    },
  };
}
