import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { DEFAULTS } from '../../apps/payments/src/settings/app-options.js';
import { eventually } from '../module/gate.js';
import { type Both, startBoth } from './both-apps.js';
import type { Answer } from './demo.js';

jest.setTimeout(60_000);

let both: Both;

beforeAll(async () => {
  both = await startBoth();
});

afterEach(async () => {
  expect(await both.psp.armed()).toEqual([]);
  await both.expectEqualBooks();
});

afterAll(() => both?.stop());

const ask = (path: string, body?: object): Promise<Answer> => both.demo.post(path, body, { key: randomUUID() });

const charge = (asked: object = {}): Promise<Answer> =>
  ask('/charges', { amount: 4999, currency: 'usd', card: 'tok_visa', ...asked });

interface Charged {
  readonly id: string;
  readonly providerId: string;
  readonly reference: string;
}

async function charged(asked: object = {}): Promise<Charged> {
  const { status, json } = await charge(asked);
  expect(status).toBe(201);
  return { id: String(json['id']), providerId: String(json['providerId']), reference: `mer_acme/${json['id']}` };
}

/** What is done at the provider itself, as by somebody with its dashboard, and not through the demo. */
const atTheProvider = async (path: string, body?: object): Promise<void> => {
  expect((await both.psp.post(path, body)).status).toBe(201);
};

interface Delivered {
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly lastOutcome: string | null;
  readonly data: { readonly charge: { readonly reference: string } };
}

async function eventsAbout(reference: string): Promise<Delivered[]> {
  const { events } = (await both.psp.get('/control/webhooks')).json() as unknown as { events: Delivered[] };
  return events.filter(({ data }) => data.charge.reference === reference);
}

const until = (reference: string, type: string, isAsWanted: (event: Delivered) => boolean): Promise<Delivered> =>
  eventually(`the event ${type} of ${reference} is as wanted`, async () =>
    (await eventsAbout(reference)).find((event) => event.type === type && isAsWanted(event)),
  );

const untilDelivered = (reference: string, type: string): Promise<Delivered> =>
  until(reference, type, ({ state }) => state === 'delivered');

const entriesOf = (id: string): Promise<{ account_id: string; amount: number }[]> =>
  both.demo.rows('SELECT account_id, amount::int FROM ledger_entries WHERE charge_id = $1 ORDER BY id', id);

const CAPTURED = [
  { account_id: 'clearing_usd', amount: -4999 },
  { account_id: 'sales_usd', amount: 4999 },
];

const refunded = (amount: number) => [
  { account_id: 'sales_usd', amount: -amount },
  { account_id: 'clearing_usd', amount },
];

interface Signed {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** An event as the provider signs it. */
function signed(event: object, { id = `msg_${randomUUID()}`, at = new Date() } = {}): Signed {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(DEFAULTS.webhookSecret).sign(id, at, body),
    },
  };
}

const deliver = ({ headers, body }: Signed): Promise<Response> =>
  fetch(`${both.demo.url}/webhooks/psp`, { method: 'POST', headers, body });

/** The provider's word that a charge of ours was captured in full. */
const captureOf = ({ providerId, reference }: Charged): object => ({
  type: 'charge.captured',
  data: {
    charge: {
      ...{ id: providerId, reference, status: 'captured' },
      ...{ amount: 4999, currency: 'usd', captured: 4999, refunded: 0 },
    },
  },
});

/** What was claimed, whatever became of it. */
const claimedEvents = (): Promise<object[]> =>
  both.demo.rows(`SELECT key FROM idempotency_records WHERE endpoint = 'provider-events' ORDER BY key`);

const HOUR_MS = 3_600_000;

describe('an event of the provider', () => {
  it('about what was booked already changes nothing', async () => {
    const made = await charged();
    expect((await ask(`/charges/${made.id}/refunds`, { amount: 1000 })).status).toBe(201);
    await untilDelivered(made.reference, 'charge.captured');
    await untilDelivered(made.reference, 'charge.refunded');
    expect(await entriesOf(made.id)).toEqual([...CAPTURED, ...refunded(1000)]);
  });

  it.each([
    ['capture', { capture: false }, 'charge.captured', CAPTURED],
    ['refunds', {}, 'charge.refunded', [...CAPTURED, ...refunded(1000)]],
  ])('that comes before the answer to the %s that it tells of is booked once', async (path, asked, type, entries) => {
    const made = await charged(asked);
    await both.psp.post('/control/hold', { at: 'after' });
    const running = ask(`/charges/${made.id}/${path}`, path === 'refunds' ? { amount: 1000 } : undefined);
    await both.untilHeld();
    await untilDelivered(made.reference, type);
    expect(await entriesOf(made.id)).toEqual(entries);
    await both.psp.release();

    expect((await running).status).toBe(201);
    expect(await entriesOf(made.id)).toEqual(entries);
  });

  it('books what was done at the provider itself, once, however often it is delivered', async () => {
    const made = await charged({ capture: false });
    await both.psp.arm({ kind: 'duplicate_webhook', operation: 'capture' });
    await atTheProvider(`/charges/${made.providerId}/capture`);
    await untilDelivered(made.reference, 'charge.captured');
    await atTheProvider(`/charges/${made.providerId}/refunds`, { amount: 1000 });
    const { id } = await untilDelivered(made.reference, 'charge.refunded');
    await both.psp.post('/control/webhooks/send', { event: id });
    await untilDelivered(made.reference, 'charge.refunded');

    expect(await entriesOf(made.id)).toEqual([...CAPTURED, ...refunded(1000)]);
  });

  it('is given the recorded answer when it comes again', async () => {
    const made = await charged({ capture: false });
    await atTheProvider(`/charges/${made.providerId}/capture`);
    await untilDelivered(made.reference, 'charge.captured');
    const again = signed(captureOf(made));

    const [first, second] = [await deliver(again), await deliver(again)];

    expect([first.status, second.status]).toEqual([204, 204]);
    expect([first, second].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([null, 'true']);
    expect(await entriesOf(made.id)).toEqual(CAPTURED);
  });

  it('that overtakes an earlier one is booked with what the earlier one tells', async () => {
    const made = await charged({ capture: false });
    await both.psp.arm({ kind: 'late_webhook', operation: 'capture' });
    await atTheProvider(`/charges/${made.providerId}/capture`);
    await atTheProvider(`/charges/${made.providerId}/refunds`, { amount: 1000 });
    await untilDelivered(made.reference, 'charge.refunded');
    expect(await entriesOf(made.id)).toEqual([...CAPTURED, ...refunded(1000)]);

    await both.psp.post('/control/webhooks/send');
    await untilDelivered(made.reference, 'charge.captured');

    expect(await entriesOf(made.id)).toEqual([...CAPTURED, ...refunded(1000)]);
  });

  it('that gets lost on the way comes again', async () => {
    const made = await charged({ capture: false });
    await both.psp.arm({ kind: 'lost_webhook', operation: 'capture', attempts: 2 });
    await atTheProvider(`/charges/${made.providerId}/capture`);
    await untilDelivered(made.reference, 'charge.captured');
    expect(await entriesOf(made.id)).toEqual(CAPTURED);
  });

  it('waits with the provider for a charge whose operation has not committed', async () => {
    const { running, reference } = await both.demo.holding(
      `SELECT FROM accounts WHERE merchant_id = 'mer_acme' AND id = 'clearing_eur' FOR UPDATE`,
      async () => {
        const running = charge({ currency: 'eur' });
        await both.demo.waiting(1);
        const [row] = await both.psp.rows<{ reference: string }>(
          `SELECT reference FROM charges WHERE currency = 'eur'`,
        );
        const { reference } = row!;
        await until(reference, 'charge.captured', ({ lastOutcome }) => lastOutcome === '503');
        expect(await both.demo.rows(`SELECT FROM charges WHERE currency = 'eur'`)).toEqual([]);
        return { running, reference };
      },
    );
    expect((await running).status).toBe(201);

    await both.psp.post('/control/webhooks/send');
    await untilDelivered(reference, 'charge.captured');

    expect(await both.demo.rows(`SELECT FROM ledger_entries WHERE account_id = 'clearing_eur'`)).toHaveLength(1);
  });

  it('that the provider insists on delivering before it answers changes nothing', async () => {
    await both.psp.arm({ kind: 'webhook_before_answer', operation: 'charge' });
    const made = await charged();
    await both.psp.post('/control/webhooks/send');
    await untilDelivered(made.reference, 'charge.captured');
    expect(await entriesOf(made.id)).toEqual(CAPTURED);
  });

  it('that comes again while it is being booked is told to come back', async () => {
    const made = await charged({ capture: false });
    await both.psp.send('PUT', '/control/webhooks', { url: null });
    await atTheProvider(`/charges/${made.providerId}/capture`);
    await both.psp.send('PUT', '/control/webhooks', { url: `${both.demo.url}/webhooks/psp` });
    const event = signed(captureOf(made));

    const { running, second } = await both.demo.holding(
      `SELECT FROM charges WHERE id = '${made.id}' FOR UPDATE`,
      async () => {
        const running = deliver(event);
        await both.demo.waiting(1);
        return { running, second: await deliver(event) };
      },
    );

    expect(second.status).toBe(409);
    expect(Number(second.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await running).status).toBe(204);
    expect((await deliver(event)).headers.get('Idempotent-Replayed')).toBe('true');
    expect(await entriesOf(made.id)).toEqual(CAPTURED);
  });

  it('under the id of another one is refused', async () => {
    const made = await charged();
    const { headers, body } = signed(captureOf(made));
    expect((await deliver({ headers, body })).status).toBe(204);
    const other = signed({ type: 'charge.captured', data: {} }, { id: headers['webhook-id']! });
    expect((await deliver(other)).status).toBe(422);
  });

  it.each([
    ['of a charge that is not ours', { type: 'charge.captured', data: { charge: chargeOf({ reference: 'order-1' }) } }],
    ['of a charge without a name', { type: 'charge.captured', data: { charge: chargeOf({ reference: null }) } }],
    ['of another kind', { type: 'payout.paid', data: { payout: { id: 'po_1' } } }],
  ])('%s is acknowledged, and books nothing', async (_, event) => {
    const before = await both.demo.rows('SELECT FROM ledger_entries');
    expect((await deliver(signed(event))).status).toBe(204);
    expect(await both.demo.rows('SELECT FROM ledger_entries')).toHaveLength(before.length);
  });
});

describe('what is not signed by the provider', () => {
  const hour = new Date(Date.now() - HOUR_MS);

  it.each<[string, (event: Signed, made: Charged) => Signed]>([
    [
      'has no signature',
      ({ headers: { 'Content-Type': type }, body }) => ({ headers: { 'Content-Type': type! }, body }),
    ],
    [
      'has the signature of another secret',
      ({ headers, body }) => {
        const signature = new Webhook('b3RoZXIgc2VjcmV0').sign(headers['webhook-id']!, new Date(), body);
        return { headers: { ...headers, 'webhook-signature': signature }, body };
      },
    ],
    ['has another amount', ({ headers, body }) => ({ headers, body: body.replaceAll('4999', '9999') })],
    ['has another spelling', ({ headers, body }) => ({ headers, body: `${body} ` })],
    ['has another id', ({ headers, body }) => ({ headers: { ...headers, 'webhook-id': 'msg_other' }, body })],
    ['is an hour old', (_, made) => signed(captureOf(made), { at: hour })],
  ])('is refused before anything is claimed, where it %s', async (_, forge) => {
    const made = await charged({ capture: false });
    await untilDelivered(made.reference, 'charge.authorized');
    const before = await claimedEvents();
    const forged = forge(signed(captureOf(made)), made);

    const response = await deliver(forged);

    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ status: 403, code: 'signature-invalid' });
    expect(await claimedEvents()).toEqual(before);
    expect(await entriesOf(made.id)).toEqual([]);
  });
});

function chargeOf(change: object): object {
  return {
    ...{ id: 'ch_1', reference: 'order-1', status: 'captured', amount: 1 },
    ...{ currency: 'usd', captured: 1, refunded: 0, ...change },
  };
}
