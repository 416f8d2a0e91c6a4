import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { newReference, Psp } from './psp.js';
import { type Delivery, type Receiver, startReceiver } from './receiver.js';

jest.setTimeout(30_000);

const SECRET_BYTES = 'forty-two is not a secret, this is';
const webhookSecret = `whsec_${Buffer.from(SECRET_BYTES).toString('base64')}`;

const HOUR_MS = 3_600_000;

interface EventRow {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly last_outcome: string | null;
  /** Until the next attempt, in minutes; null for never. */
  readonly due_in: number | null;
}

let database: TestDatabase;
let receiver: Receiver;
/** Its failed deliveries wait for hours, so that the next attempt is always a command of the test's. */
let psp: Psp;

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  receiver = await startReceiver();
  psp ??= await Psp.start({ databaseUrl: database.url, webhookSecret, webhookRetryMs: HOUR_MS });
  await psp.send('PUT', '/control/webhooks', { url: receiver.url });
});

afterEach(async () => {
  expect(await psp.armed()).toEqual([]);
  await receiver.stop();
});

afterAll(async () => {
  await psp?.stop();
  await database?.drop();
});

const eventsAbout = (reference: string): Promise<EventRow[]> =>
  psp.rows<EventRow>(
    `SELECT id, state, attempts, last_outcome,
            round(extract(epoch FROM next_attempt_at - clock_timestamp()) / 60)::int AS due_in
       FROM webhook_events WHERE data -> 'charge' ->> 'reference' = $1 ORDER BY sequence`,
    reference,
  );

/** The only event about this reference, once it is as wanted. */
const untilEvent = (reference: string, isAsWanted: (event: EventRow) => boolean): Promise<EventRow> =>
  eventually(`the event about ${reference} is as wanted`, async () => {
    const [event] = await eventsAbout(reference);
    return event && isAsWanted(event) ? event : undefined;
  });

/** A provider that tries again at once, and has all events to itself. */
async function startHasty(): Promise<Psp> {
  await psp.send('PUT', '/control/webhooks', { url: null });
  return Psp.start({ databaseUrl: database.url, webhookSecret, webhookRetryMs: 1, webhookUrl: receiver.url });
}

const sendNow = (event?: string) => psp.post('/control/webhooks/send', event === undefined ? {} : { event });

/** What Standard Webhooks says a signature is, written from its text and not with the provider's library. */
const signatureOf = ({ headers, body }: Delivery): string =>
  `v1,${createHmac('sha256', SECRET_BYTES)
    .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
    .digest('base64')}`;

describe('an event', () => {
  it('tells of every change of a charge, in order, signed as Standard Webhooks says', async () => {
    const reference = newReference();
    const authorized = await psp.charged({ reference, capture: false });
    const captured = (await psp.post(`/charges/${authorized.id}/capture`)).json();
    const refund = (await psp.post(`/charges/${authorized.id}/refunds`, { amount: 200 })).json();

    const deliveries = await receiver.until(reference, 3);

    expect(deliveries.map(({ event }) => [event.type, event.data])).toEqual([
      ['charge.authorized', { charge: authorized }],
      ['charge.captured', { charge: captured }],
      ['charge.refunded', { charge: { ...captured, refunded: 200 }, refund }],
    ]);
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    for (const delivery of deliveries) {
      const { headers, event } = delivery;
      expect(headers['webhook-signature']).toBe(signatureOf(delivery));
      expect(headers['webhook-id']).toMatch(/^msg_/);
      expect(headers['webhook-timestamp']).toMatch(/^\d{10}$/);
      expect(headers['content-type']).toBe('application/json');
      expect(event.timestamp).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    }
  });

  it('is written with what it tells of, or not at all', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'hold', at: 'during', reference });
    const charge = psp.charge({ reference });
    await psp.untilHeld(reference);
    expect([await psp.charges(reference), await eventsAbout(reference)]).toEqual([0, []]);
    await psp.release();
    await charge;
    expect([await psp.charges(reference), (await eventsAbout(reference)).length]).toEqual([1, 1]);

    const declined = newReference();
    await psp.charge({ reference: declined, card: 'tok_declined' });
    expect(await eventsAbout(declined)).toEqual([]);
  });

  it('is written once, however often the call is answered', async () => {
    const reference = newReference();
    for (let call = 0; call < 3; call++) await psp.charge({ reference }, { key: reference });
    expect(await eventsAbout(reference)).toHaveLength(1);
  });

  it('is not written when nobody is to be told', async () => {
    const reference = newReference();
    await psp.send('PUT', '/control/webhooks', { url: null });
    await psp.charged({ reference });
    expect(await eventsAbout(reference)).toEqual([]);
  });

  it('can be sent again at any time', async () => {
    const reference = newReference();
    await psp.charged({ reference });
    const { id } = await untilEvent(reference, ({ state }) => state === 'delivered');
    expect((await sendNow(id)).json()).toEqual({ events: 1 });
    const [first, second] = await receiver.until(reference, 2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.body).toBe(first!.body);
  });
});

describe('a delivery that is not acknowledged', () => {
  it('is tried again with the same id and bytes, after a wait that doubles', async () => {
    const reference = newReference();
    receiver.answerWith(500, 307);

    await psp.charged({ reference });
    expect(await untilEvent(reference, ({ last_outcome }) => last_outcome === '500')).toMatchObject({
      state: 'pending',
      attempts: 1,
      due_in: 60,
    });
    await sendNow();
    expect(await untilEvent(reference, ({ last_outcome }) => last_outcome === '307')).toMatchObject({
      state: 'pending',
      attempts: 2,
      due_in: 120,
    });
    await sendNow();
    expect(await untilEvent(reference, ({ state }) => state === 'delivered')).toMatchObject({
      attempts: 3,
      last_outcome: '204',
      due_in: null,
    });

    const deliveries = receiver.about(reference);
    expect(deliveries).toHaveLength(3);
    expect(new Set(deliveries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(deliveries.map(({ body }) => body)).size).toBe(1);
    for (const delivery of deliveries) expect(delivery.headers['webhook-signature']).toBe(signatureOf(delivery));
  });

  it('lets the others pass', async () => {
    const [first, second] = [newReference(), newReference()];
    receiver.answerWith(503);
    await psp.charged({ reference: first });
    await psp.charged({ reference: second });
    await untilEvent(second, ({ state }) => state === 'delivered');
    expect((await eventsAbout(first))[0]).toMatchObject({ state: 'pending', attempts: 1 });
    await sendNow();
    await untilEvent(first, ({ state }) => state === 'delivered');
    expect(receiver.order([first, second])).toEqual([first, second, first]);
  });

  it('is tried five times by itself, then given up, and can still be sent on command', async () => {
    const own = await startHasty();
    try {
      const reference = newReference();
      receiver.answerWith(500, 500, 500, 500, 500);
      await own.charged({ reference });
      expect(await untilEvent(reference, ({ state }) => state === 'given_up')).toMatchObject({
        attempts: 5,
        due_in: null,
      });
      expect(receiver.about(reference)).toHaveLength(5);
      await own.post('/control/webhooks/send');
      await untilEvent(reference, ({ state }) => state === 'delivered');
      expect(receiver.about(reference)).toHaveLength(6);
    } finally {
      await own.stop();
    }
  });

  it('for want of anybody who listens is tried again as well', async () => {
    const reference = newReference();
    const gone = await startReceiver();
    await gone.stop();
    await psp.send('PUT', '/control/webhooks', { url: gone.url });
    await psp.charged({ reference });
    const { last_outcome } = await untilEvent(reference, ({ last_outcome }) => last_outcome !== null);
    expect(last_outcome).toMatch(/ECONNREFUSED/);
    await psp.send('PUT', '/control/webhooks', { url: receiver.url });
    await sendNow();
    await receiver.until(reference, 1);
  });

  it('because the app ends is made by the next one', async () => {
    const reference = newReference();
    const answers = receiver.holdAnswers();
    const doomed = await startHasty();
    await doomed.charged({ reference });
    await receiver.until(reference, 1);
    await doomed.stop();

    expect(await eventsAbout(reference)).toMatchObject([{ state: 'pending', attempts: 0 }]);
    answers.open();
    await psp.send('PUT', '/control/webhooks', { url: receiver.url });
    await untilEvent(reference, ({ state }) => state === 'delivered');
    const [first, second] = await receiver.until(reference, 2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
  });
});

describe('a fault of an event', () => {
  it('duplicate_webhook delivers it twice', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'duplicate_webhook', operation: 'charge' });
    await psp.charged({ reference });
    const [first, second] = await receiver.until(reference, 2);
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.body).toBe(first!.body);
    expect(await untilEvent(reference, ({ state }) => state === 'delivered')).toMatchObject({ attempts: 1 });
  });

  it('webhook_before_answer answers the call when its event was acknowledged, and not before', async () => {
    const reference = newReference();
    const answers = receiver.holdAnswers();
    await psp.arm({ kind: 'webhook_before_answer', operation: 'charge' });
    let isAnswered = false;
    const charge = psp.charge({ reference }).finally(() => (isAnswered = true));

    const [delivery] = await receiver.until(reference, 1);
    expect(await psp.charges(reference)).toBe(1);
    await psp.untilCall(reference, ({ outcome }) => outcome === null);
    expect(isAnswered).toBe(false);
    answers.open();

    const answer = await charge;
    expect(answer.status).toBe(201);
    expect(delivery!.event.data).toEqual({ charge: answer.json() });
    expect(await eventsAbout(reference)).toMatchObject([{ state: 'delivered' }]);
  });

  it('webhook_before_answer answers all the same when its event is given up', async () => {
    const own = await startHasty();
    try {
      const reference = newReference();
      receiver.answerWith(500, 500, 500, 500, 500);
      await own.arm({ kind: 'webhook_before_answer' });
      expect((await own.charge({ reference })).status).toBe(201);
      expect(await eventsAbout(reference)).toMatchObject([{ state: 'given_up' }]);
    } finally {
      await own.stop();
    }
  });

  it('late_webhook lets the next overtake it until it is sent on command', async () => {
    const [late, next] = [newReference(), newReference()];
    await psp.arm({ kind: 'late_webhook', operation: 'charge', reference: late });
    await psp.charged({ reference: late });
    await psp.charged({ reference: next });
    await receiver.until(next, 1);
    expect(await eventsAbout(late)).toMatchObject([{ state: 'pending', attempts: 0, due_in: null }]);
    await sendNow();
    await receiver.until(late, 1);
    expect(receiver.order([late, next])).toEqual([next, late]);
  });

  it('late_webhook with a delay is due when that is over', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'late_webhook', delayMs: 600_000 });
    await psp.charged({ reference });
    expect(await eventsAbout(reference)).toMatchObject([{ state: 'pending', attempts: 0, due_in: 10 }]);
    await psp.rows(
      `UPDATE webhook_events SET next_attempt_at = now() WHERE id = $1`,
      (await eventsAbout(reference))[0]!.id,
    );
    await psp.charged();
    await receiver.until(reference, 1);
  });

  it('lost_webhook has its first attempts get nowhere', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'lost_webhook', attempts: 2 });
    await psp.charged({ reference });
    await untilEvent(reference, ({ attempts, last_outcome }) => attempts === 1 && last_outcome === 'lost on the way');
    await sendNow();
    await untilEvent(reference, ({ attempts, due_in }) => attempts === 2 && due_in === 120);
    expect(receiver.about(reference)).toEqual([]);
    await sendNow();
    await untilEvent(reference, ({ state, attempts }) => state === 'delivered' && attempts === 3);
    expect(receiver.about(reference)).toHaveLength(1);
  });

  it('is taken besides the fault of the call', async () => {
    const reference = newReference();
    await psp.arm({ kind: 'duplicate_webhook', operation: 'charge' });
    await psp.arm({ kind: 'cut_after', operation: 'charge' });
    expect(
      (await psp.raw('POST', '/charges', { amount: 5, currency: 'usd', card: 'tok_visa', reference })).length,
    ).toBe(0);
    await receiver.until(reference, 2);
  });
});

describe('the list of events', () => {
  it('tells what became of each', async () => {
    const reference = newReference();
    const charge = await psp.charged({ reference });
    const { id } = await untilEvent(reference, ({ state }) => state === 'delivered');
    const list = (await psp.get('/control/webhooks')).json();
    expect(list['url']).toBe(receiver.url);
    expect((list['events'] as { id: string }[]).find((event) => event.id === id)).toEqual({
      id,
      type: 'charge.captured',
      data: { charge },
      fault: null,
      state: 'delivered',
      attempts: 1,
      lastOutcome: '204',
      createdAt: expect.any(String),
    });
  });
});
