import type { StepCall } from 'nestjs-idempotency';

import type { Order } from './orders.js';

/** A charge as the provider tells of it. */
export interface Charge {
  readonly id: string;
  readonly status: 'authorized' | 'captured';
  readonly amount: number;
}

/** The provider answered, and not as it was asked to. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';

  constructor(
    readonly status: number,
    readonly details: unknown,
  ) {
    super(`The provider answered ${status}.`);
  }
}

export function charge({ providerPort, id, amount, card }: Order, capture: boolean, call: StepCall): Promise<Charge> {
  return ask(providerPort, 'POST', '/charges', call, { amount, currency: 'usd', card, capture, reference: id });
}

export function capture({ providerPort }: Order, charge: string, call: StepCall): Promise<Charge> {
  return ask(providerPort, 'POST', `/charges/${charge}/capture`, call, {});
}

/** The charge of this order, if there is one. */
export async function chargeOf({ providerPort, id }: Order, call: StepCall): Promise<Charge | undefined> {
  const path = `/charges?reference=${encodeURIComponent(id)}`;
  const { charges } = await ask<{ charges: Charge[] }>(providerPort, 'GET', path, call);
  return charges[0];
}

async function ask<Answer>(
  port: number,
  method: string,
  path: string,
  { providerKey, signal }: StepCall,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: {
      Authorization: 'Bearer sk_test_demo',
      ...(body && { 'Content-Type': 'application/json', 'Idempotency-Key': providerKey }),
    },
    ...(body && { body: JSON.stringify(body) }),
    signal,
  });
  if (response.ok) return (await response.json()) as Answer;
  throw new ProviderError(response.status, await response.json().catch(() => undefined));
}
