import type { Booking } from './consumers/bookings.js';
import type { BookingsStream } from './consumers/jetstream.js';
import type { BookingsQueue as BullQueue } from './consumers/bullmq.js';
import type { BookingsJobs } from './consumers/pg-boss.js';
import type { BookingsQueue as RabbitQueue } from './consumers/rabbitmq.js';

export type JetStreamPlace = { readonly transport: 'jetstream'; readonly url: string } & BookingsStream;
export type BullPlace = { readonly transport: 'bullmq'; readonly url: string } & Omit<BullQueue, 'connection'>;
export type BossPlace = { readonly transport: 'pg-boss'; readonly url: string } & BookingsJobs;
export type RabbitPlace = { readonly transport: 'rabbitmq' | 'golevelup'; readonly url: string } & RabbitQueue;

/** What a consumer must know to find its messages. */
export type Place = JetStreamPlace | BullPlace | BossPlace | RabbitPlace;
export type Transport = Place['transport'];

export interface Message {
  /** The id that its sender gives it; a message without one cannot be recognised. */
  readonly id?: string;
  readonly booking: Booking;
}

/** One broker with a queue of our own, seen from where messages are sent and where an operator looks. */
export interface Broker {
  readonly place: Place;
  send(messages: readonly Message[]): Promise<void>;
  /** How many deliveries have yet to be acknowledged or put aside, in whatever state they are. */
  unsettled(): Promise<number>;
  /** The references of the bookings whose messages the broker holds for acknowledged, a part of them if they are many. */
  acknowledged(): Promise<string[]>;
  /** The references of the bookings in the dead-letter queue, sorted. */
  deadLetters(): Promise<string[]>;
  /** How many of the attempts that it grants each delivery it counts as used up for this booking. */
  attemptsUsed(reference: string): Promise<number>;
  /** Removes everything of ours from the broker. */
  remove(): Promise<void>;
}
