/** The names by which operations are known to the routes that run them, and to those who finish them. */
export const ENDPOINTS = { charge: 'charges', capture: 'charge-captures', refund: 'charge-refunds' } as const;
