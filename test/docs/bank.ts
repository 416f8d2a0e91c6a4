export interface Transfer {
  readonly iban: string;
  readonly amount: number;
}

/** Stands for a provider that keeps no keys and cannot be asked. */
export declare const bank: {
  send(transfer: Transfer, signal: AbortSignal): Promise<{ readonly number: string }>;
};
