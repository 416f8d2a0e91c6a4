import {
  isProviderCharge,
  isProviderRefund,
  type ProviderCharge,
  type ProviderRefund,
} from '../provider/provider-objects.js';

/** What the provider tells of one of its charges: how it stands, and the refund that changed it, if one did. */
export interface ProviderEvent {
  readonly charge: ProviderCharge;
  readonly refund: ProviderRefund | undefined;
}

/** Null for what is told of something else, or in a form that is not known here. */
export function eventIn(body: unknown): ProviderEvent | null {
  const { data } = (body ?? {}) as { readonly data?: { readonly charge?: unknown; readonly refund?: unknown } };
  if (!isProviderCharge(data?.charge)) return null;
  const { charge, refund } = data;
  return { charge, refund: isProviderRefund(refund) ? refund : undefined };
}
