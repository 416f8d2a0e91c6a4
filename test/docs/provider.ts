import type { CanActivate } from '@nestjs/common';

export interface Charge {
  readonly id: string;
  readonly amount: number;
}

export interface ChargeEvent {
  readonly charge: Charge;
}

interface Terms {
  readonly idempotencyKey: string;
  readonly signal: AbortSignal;
}

/** Stands for the client of a provider that keeps keys, and finds charges by them. */
export declare const provider: {
  charge(request: { readonly amount: number }, terms: Terms): Promise<Charge>;
  refund(charge: string, terms: Terms): Promise<{ readonly id: string }>;
  find(key: string, signal: AbortSignal): Promise<Charge | undefined>;
};

/** Lets in what the provider has signed. */
export declare class SignatureGuard implements CanActivate {
  canActivate(): boolean;
}
