export interface Parcel {
  readonly address: string;
}

interface Shipment {
  readonly tracking: string;
}

/** Stands for a provider that keeps no keys, and finds shipments by our reference. */
export declare const carrier: {
  ship(parcel: Parcel & { readonly reference: string }, signal: AbortSignal): Promise<Shipment>;
  find(reference: string, signal: AbortSignal): Promise<Shipment | undefined>;
};
