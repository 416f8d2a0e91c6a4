/** What can be asked of the provider. A lookup changes nothing. */
export const OPERATIONS = ['charge', 'capture', 'refund', 'lookup'] as const;
export type Operation = (typeof OPERATIONS)[number];
