import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { expect } from '@jest/globals';

import type { Book } from './book.js';
import type { Broker, Message } from './broker.js';
import type { Consumers } from './process/consumers.js';
import { shortly } from './shortly.js';

const MESSAGES = 1_000;
const DELIVERIES = 10;
/** How far from its first delivery a message's last one comes at most, in messages. */
const NEAR = 50;
/** How many consumers are killed; KILLS asks for more. */
const KILLS = Number(process.env.KILLS ?? 4);
const LOOK_EVERY_MS = 200;

interface World {
  readonly book: Book;
  readonly broker: Broker;
  readonly consumers: Consumers;
}

/**
 * Two consumers are given ten thousand deliveries, and one of them is killed again and again, in the midst of its work;
 * what the broker holds for acknowledged is looked at all the while.
 */
export async function endsInAThousandBookings({ book, broker, consumers }: World): Promise<void> {
  const pair = [await consumers.one(), await consumers.add()];
  const watch = watchAcknowledgements(broker, book);
  const lots = inLots(storm(), KILLS + 1);
  for (const lot of lots) {
    await consumers.ready();
    const enough = (await book.count('storm-')) + randomInt(1, Math.floor(MESSAGES / lots.length / 2));
    const sending = broker.send(lot);
    if (lot !== lots.at(-1)) {
      await shortly('some of it is booked', async () => (await book.count('storm-')) >= enough);
      const victim = randomInt(2);
      await consumers.kill(pair[victim]!);
      pair[victim] = await consumers.add();
    }
    await sending;
    watch.expectNothingMissing();
  }
  await shortly('no delivery is left', async () => (await broker.unsettled()) === 0);
  expect(await watch.stop()).toBeGreaterThan(0);

  const bookings = Array.from({ length: MESSAGES }, (_, index) => storming(index + 1).booking);
  expect(await book.missing(bookings.map(({ reference }) => reference))).toEqual([]);
  expect(await book.wrong(bookings)).toEqual([]);
  expect(await book.count('storm-')).toBe(MESSAGES);

  // Nothing comes back of what they were given.
  await Promise.all(pair.map((consumer) => consumers.close(consumer)));
  expect(await broker.unsettled()).toBe(0);
}

/** Duplicates meet while the first is worked on as well as long after. */
function storm(): Message[] {
  return Array.from({ length: MESSAGES * DELIVERIES }, (_, place) => ({
    message: storming(Math.floor(place / DELIVERIES) + 1),
    at: place + Math.random() * NEAR * DELIVERIES,
  }))
    .sort((one, other) => one.at - other.at)
    .map(({ message }) => message);
}

function storming(number: number): Message & { readonly id: string } {
  return { id: `storm-${number}`, booking: { reference: `storm-${number}`, amount: number } };
}

function inLots<Item>(items: readonly Item[], lots: number): Item[][] {
  const size = Math.ceil(items.length / lots);
  return Array.from({ length: lots }, (_, lot) => items.slice(lot * size, (lot + 1) * size));
}

interface Watch {
  /** Throws where something was acknowledged that is not booked. */
  expectNothingMissing(): void;
  /** The same when it is over; resolves to the most that were found acknowledged at one time. */
  stop(): Promise<number>;
}

/** Asks the broker what is acknowledged, again and again, and then whether all of that is booked. */
function watchAcknowledgements(broker: Broker, book: Book): Watch {
  let isOver = false;
  let most = 0;
  const missing: string[] = [];
  const watching = (async () => {
    while (!isOver && missing.length === 0) {
      const acknowledged = (await broker.acknowledged()).filter((reference) => reference.startsWith('storm-'));
      missing.push(...(await book.missing([...new Set(acknowledged)])));
      most = Math.max(most, acknowledged.length);
      await setTimeout(LOOK_EVERY_MS);
    }
  })();
  watching.catch(() => undefined);
  const expectNothingMissing = (): void => expect(missing).toEqual([]);
  return {
    expectNothingMissing,
    stop: async () => {
      isOver = true;
      await watching;
      expectNothingMissing();
      return most;
    },
  };
}
