export const CHARGE_ID = /^ch_[0-9a-f-]{36}$/;

/** Where a reference leads, and whose it is. */
export interface Referred {
  readonly merchantId: string;
  readonly id: string;
}

/** What the provider is told to call something of ours, so that its events lead back to it. */
export const referenceOf = ({ merchantId, id }: Referred): string => `${merchantId}/${id}`;

/** What a reference of ours leads to; undefined for one that we did not give. */
export function referredBy(reference: string | null): Referred | undefined {
  const [, merchantId, id] = /^([a-z0-9_]+)\/((?:ch|re)_[0-9a-f-]{36})$/.exec(reference ?? '') ?? [];
  return merchantId === undefined || id === undefined ? undefined : { merchantId, id };
}
