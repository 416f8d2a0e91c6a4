/** A charge as the provider tells of it. */
export interface ProviderCharge {
  readonly id: string;
  readonly status: 'authorized' | 'captured';
  readonly amount: number;
  readonly currency: string;
  /** What we call it; null where somebody else made it. */
  readonly reference: string | null;
  readonly captured: number;
  readonly refunded: number;
}

/** A refund as the provider tells of it. */
export interface ProviderRefund {
  readonly id: string;
  /** The provider's id of the charge. */
  readonly charge: string;
  readonly amount: number;
  readonly currency: string;
  readonly reference: string | null;
}

/** Whether what came over the wire is a whole charge: half an answer says nothing of what was done. */
export function isProviderCharge(value: unknown): value is ProviderCharge {
  const { id, status, amount, currency, captured } = membersOf(value);
  return (
    typeof id === 'string' &&
    (status === 'authorized' || status === 'captured') &&
    Number.isSafeInteger(amount) &&
    typeof currency === 'string' &&
    Number.isSafeInteger(captured)
  );
}

/** Whether what came over the wire is a whole refund. */
export function isProviderRefund(value: unknown): value is ProviderRefund {
  const { id, charge, amount } = membersOf(value);
  return typeof id === 'string' && typeof charge === 'string' && Number.isSafeInteger(amount);
}

const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
