import type { Message } from './broker.js';
import type { BookingEvent } from './consumers/bullmq.js';

/** The message as a CloudEvent; one without an id is none, and cannot be recognised. */
export function bookingEvent({ id, booking }: Message): BookingEvent {
  const event = { specversion: '1.0', type: 'booking', source: 'orders', data: booking };
  return (id === undefined ? event : { ...event, id }) as BookingEvent;
}
