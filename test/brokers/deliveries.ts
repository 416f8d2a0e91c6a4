import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';

import { Book } from './book.js';
import type { Broker, Message } from './broker.js';
import type { Place } from './process/consumer-process.js';
import { Consumers } from './process/consumers.js';
import { shortly } from './shortly.js';
import { endsInAThousandBookings } from './storm.js';

const LEASE_MS = 1_500;
const MAX_TRIES = 2;
/** After this time without a sign of life from its consumer a broker delivers a message again. */
const REDELIVER_MS = 2_000;

/** The longest takes twenty seconds where nothing else is running. */
const PATIENCE_MS = 300_000;

const AFTER_ITS_WRITE: Place = { statement: '^INSERT INTO bookings', when: 'after' };

/** Opens the queue of this name, which no other run uses. */
export type OpenBroker = (name: string, redeliverMs: number, databaseUrl: string) => Promise<Broker>;

/** What holds for the messages of every broker. */
export function describeDeliveries(transport: string, open: OpenBroker): void {
  jest.setTimeout(PATIENCE_MS);

  let book: Book;
  let broker: Broker;
  let consumers: Consumers;

  beforeAll(async () => {
    book = await Book.open();
    const name = `test_${transport}_${randomBytes(4).toString('hex')}`;
    broker = await open(name, REDELIVER_MS, book.url);
    consumers = new Consumers({ databaseUrl: book.url, place: broker.place, leaseMs: LEASE_MS, maxTries: MAX_TRIES });
  });

  afterAll(async () => {
    await consumers?.end();
    await broker?.remove();
    await book?.close();
  });

  const untilAllIsSettled = (): Promise<void> =>
    shortly('no delivery is left', async () => (await broker.unsettled()) === 0);

  async function expectUnsettled(reference: string, deliveries: number): Promise<void> {
    expect(await broker.unsettled()).toBe(deliveries);
    expect(await broker.acknowledged()).not.toContain(reference);
  }

  it('does nothing of a message whose consumer is killed before its COMMIT, until it is delivered again', async () => {
    const doomed = await consumers.one();
    const { reached } = await doomed.stopAt({ statement: '^COMMIT$', when: 'before' });
    await broker.send([message('uncommitted')]);
    await reached;
    await expectUnsettled('uncommitted', 1);
    await consumers.kill(doomed);
    expect(await book.amounts('uncommitted')).toEqual([]);
    await expectUnsettled('uncommitted', 1);

    await consumers.add();
    await untilAllIsSettled();
    expect(await book.amounts('uncommitted')).toEqual([1]);
  });

  it('does not do again what a consumer committed that was killed before it could acknowledge', async () => {
    const doomed = await consumers.one();
    const { reached } = await doomed.stopAt({ statement: '^COMMIT$', when: 'after' });
    await broker.send([message('committed')]);
    await reached;
    expect(await book.amounts('committed')).toEqual([1]);
    await expectUnsettled('committed', 1);
    await consumers.kill(doomed);

    const next = await consumers.add();
    await untilAllIsSettled();
    expect(await book.amounts('committed')).toEqual([1]);
    expect(next.settled).toContainEqual({ kind: 'acknowledge', how: 'replayed' });
  });

  it('keeps a message for as long as another consumer works on it, and does it when that one dies', async () => {
    const doomed = await consumers.one();
    const { reached } = await doomed.stopAt(AFTER_ITS_WRITE);
    await broker.send([message('worked-on')]);
    await reached;

    const next = await consumers.add();
    await broker.send([message('worked-on')]);
    // Four looks at two deliveries: one of them at least comes for the second time, when a used attempt would show.
    await shortly('it has been looked at four times', () => next.settled.length >= 4);
    expect(next.settled.filter(({ kind }) => kind !== 'retry')).toEqual([]);
    await expectUnsettled('worked-on', 2);
    // The broker may count one that a consumer has right now, until it is given back.
    await shortly('no attempt is used up', async () => (await broker.attemptsUsed('worked-on')) === 0);
    await consumers.kill(doomed);
    expect(await book.amounts('worked-on')).toEqual([]);

    await untilAllIsSettled();
    expect(await book.amounts('worked-on')).toEqual([1]);
    expect(next.settled).toContainEqual({ kind: 'acknowledge', how: 'executed' });
  });

  it('lets one of two consumers book, where the first was paused past its lease', async () => {
    const paused = await consumers.one();
    const { reached } = await paused.stopAt(AFTER_ITS_WRITE);
    await broker.send([message('taken-over')]);
    await reached;
    paused.signal('SIGSTOP');
    paused.goOn();

    const successor = await consumers.add();
    await broker.send([message('taken-over')]);
    const executed = { kind: 'acknowledge', how: 'executed' };
    await shortly('the successor has done it', () => successor.settled.some(({ how }) => how === executed.how));
    const before = paused.settled.length;
    paused.signal('SIGCONT');
    await shortly('the paused one knows', () => paused.settled.length > before);

    expect(paused.settled[before]).toEqual({ kind: 'acknowledge', how: 'replayed' });
    await untilAllIsSettled();
    expect(await book.amounts('taken-over')).toEqual([1]);
    await consumers.kill(paused);
  });

  it('puts aside what can never be done, counts it, and goes on', async () => {
    await consumers.one();
    const impossible = { id: 'impossible', booking: { reference: 'impossible', amount: 0 } };
    await broker.send([message('known')]);
    await untilAllIsSettled();

    await broker.send([
      { id: 'known', booking: { reference: 'other-content', amount: 2 } },
      { booking: { reference: 'without-id', amount: 1 } },
      impossible,
      message('good'),
    ]);
    await untilAllIsSettled();

    expect(await broker.deadLetters()).toEqual(['impossible', 'other-content', 'without-id']);
    expect(consumers.settled('park', 'mismatch')).toBe(1);
    expect(consumers.settled('park', 'unidentified')).toBe(1);
    expect(consumers.settled('park', 'failed_too_often')).toBe(1);
    expect(await book.amounts('good')).toEqual([1]);
    expect(await book.missing(['impossible', 'other-content', 'without-id'])).toHaveLength(3);
  });

  it('books each of a thousand messages once that are delivered ten times, while consumers are killed', async () => {
    await endsInAThousandBookings({ book, broker, consumers });
    await untilAllIsSettled();
  });

  it('settles what it has begun when it is closed, and takes no more', async () => {
    const closing = await consumers.one();
    const { reached } = await closing.stopAt(AFTER_ITS_WRITE);
    await broker.send([message('last')]);
    await reached;
    const closed = consumers.close(closing);
    closing.goOn();
    await closed;

    expect(await book.amounts('last')).toEqual([1]);
    expect(await broker.unsettled()).toBe(0);
    await broker.send([message('too-late')]);
    await expectUnsettled('too-late', 1);
  });
}

function message(reference: string): Message {
  return { id: reference, booking: { reference, amount: 1 } };
}
