/**
 * The consumer of settlements, by whichever broker they come: an event that comes by both is one operation.
 *
 * Both say the same of it: endpoint, tenant and key, and the event as its payload.
 */
export const SETTLEMENTS = 'settlements';

/** The header that says of a dead letter why it is one, where the broker does not. */
export const PARK_REASON = 'Park-Reason';
