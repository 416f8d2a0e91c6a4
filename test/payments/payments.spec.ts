import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { openDataSource } from '../../apps/payments/src/database/data-source.js';
import { CreatePaymentsAndLedger1767225600000 } from '../../apps/payments/src/database/migrations/1767225600000-create-payments-and-ledger.js';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { type Answer, type Demo, startDemo } from './demo.js';

const payment = { amount: 4999, currency: 'usd', source: 'acct_alice', destination: 'acct_shop' };

jest.setTimeout(60_000);

let database: TestDatabase;
let demo: Demo;

beforeAll(async () => {
  database = await createTestDatabase();
  demo = await startDemo(database.url);
});

afterAll(async () => {
  await demo?.stop();
  await database?.drop();
});

const pay = (request: object, key: string = randomUUID()): Promise<Answer> => demo.post('/payments', request, { key });

const refund = (id: unknown, amount: number, key: string = randomUUID()): Promise<Answer> =>
  demo.post(`/payments/${id}/refunds`, { amount }, { key });

const balance = async (account: string): Promise<number> => {
  const [row] = await demo.rows<{ balance: string }>('SELECT balance FROM accounts WHERE id = $1', account);
  return Number(row?.balance);
};

const countPayments = async (): Promise<number> =>
  (await demo.rows<{ count: number }>('SELECT count(*)::int AS count FROM payments'))[0]!.count;

/** Every amount in the book against the balances, and all of them against zero. */
async function expectBalancedBook(): Promise<void> {
  const off = await demo.rows(
    `SELECT accounts.merchant_id, accounts.id FROM accounts
       LEFT JOIN ledger_entries entry ON entry.merchant_id = accounts.merchant_id AND entry.account_id = accounts.id
      GROUP BY accounts.merchant_id, accounts.id HAVING accounts.balance <> coalesce(sum(entry.amount), 0)`,
  );
  expect(off).toEqual([]);
  const sums = await demo.rows(
    `SELECT merchant_id, currency, sum(amount)::int AS sum FROM ledger_entries GROUP BY 1, 2 ORDER BY 1, 2`,
  );
  expect(sums).toEqual([
    { merchant_id: 'mer_acme', currency: 'eur', sum: 0 },
    { merchant_id: 'mer_acme', currency: 'usd', sum: 0 },
    { merchant_id: 'mer_globex', currency: 'eur', sum: 0 },
    { merchant_id: 'mer_globex', currency: 'usd', sum: 0 },
  ]);
}

function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer).toMatchObject({ status, json: { status, code } });
  expect(answer.headers.get('Content-Type')).toMatch(/^application\/problem\+json\b/);
}

describe('a payment', () => {
  it('moves the money and says where the payment lives', async () => {
    const before = { alice: await balance('acct_alice'), shop: await balance('acct_shop') };

    const answer = await pay(payment);

    expect(answer).toMatchObject({ status: 201, json: { ...payment, refunded: 0 } });
    expect(answer.headers.get('Location')).toBe(`/payments/${answer.json['id']}`);
    expect(await balance('acct_alice')).toBe(before.alice - 4999);
    expect(await balance('acct_shop')).toBe(before.shop + 4999);
    expect((await demo.get(`/payments/${answer.json['id']}`)).json).toEqual(answer.json);
  });

  it('is made once, and a retry is given the bytes of the first answer', async () => {
    const before = { payments: await countPayments(), alice: await balance('acct_alice') };
    const key = randomUUID();

    const first = await pay(payment, key);
    const retry = await pay(payment, key);

    expect(retry.status).toBe(201);
    expect(retry.body).toBe(first.body);
    expect(retry.headers.get('Location')).toBe(first.headers.get('Location'));
    expect(retry.headers.get('Content-Type')).toBe(first.headers.get('Content-Type'));
    expect([first, retry].map(({ headers }) => headers.get('Idempotent-Replayed'))).toEqual([null, 'true']);
    expect(await countPayments()).toBe(before.payments + 1);
    expect(await balance('acct_alice')).toBe(before.alice - 4999);
  });

  it('is made once when the retry overtakes it', async () => {
    const before = await countPayments();
    const key = randomUUID();

    const [first, retry] = await demo.holding(`SELECT FROM accounts WHERE id = 'acct_alice' FOR UPDATE`, async () => {
      const running = pay(payment, key);
      await demo.waiting(1);
      return [running, await pay(payment, key)] as const;
    });

    expectProblem(retry, 409, 'idempotency-request-in-progress');
    expect(Number(retry.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect((await first).status).toBe(201);
    expect(await countPayments()).toBe(before + 1);
  });

  it('is refused under a key that paid something else', async () => {
    const key = randomUUID();
    await pay(payment, key);
    const before = await countPayments();

    expectProblem(await pay({ ...payment, amount: 5000 }, key), 422, 'idempotency-key-reused');
    expect(await countPayments()).toBe(before);
  });

  it('needs a key', async () => {
    const before = await countPayments();
    expectProblem(await demo.post('/payments', payment, {}), 400, 'idempotency-key-missing');
    expect(await countPayments()).toBe(before);
  });

  it('is refused for insufficient funds, and so is its retry after money came in', async () => {
    const key = randomUUID();
    const fromCarol = { ...payment, source: 'acct_carol' };

    const first = await pay(fromCarol, key);
    await pay({ ...payment, destination: 'acct_carol' });
    const retry = await pay(fromCarol, key);

    expectProblem(first, 422, 'insufficient-funds');
    expectProblem(retry, 422, 'insufficient-funds');
    expect(retry.body).toBe(first.body);
    expect(retry.headers.get('Idempotent-Replayed')).toBe('true');
    expect(await demo.rows(`SELECT FROM payments WHERE source = 'acct_carol'`)).toEqual([]);
  });

  it.each([
    ['an account that is not there', { destination: 'acct_nobody' }, 'unknown-account'],
    ['the account openings come from', { source: 'equity_usd' }, 'unknown-account'],
    ['the account of another merchant', { source: 'acct_dave' }, 'unknown-account'],
    ['a payer of another currency', { source: 'acct_bob' }, 'currency-mismatch'],
    ['a payee of another currency', { destination: 'acct_shop_eur' }, 'currency-mismatch'],
    ['itself', { destination: 'acct_alice' }, 'same-account'],
  ])('is refused for %s', async (_, change, code) => {
    const before = await countPayments();
    expectProblem(await pay({ ...payment, ...change }), 422, code);
    expect(await countPayments()).toBe(before);
  });

  it.each([
    ['no amount', { amount: undefined }],
    ['nothing', { amount: 0 }],
    ['less than nothing', { amount: -1 }],
    ['a fraction of a cent', { amount: 49.99 }],
    ['an amount as text', { amount: '4999' }],
    ['more than a number holds', { amount: 2 ** 53 }],
    ['a currency in capitals', { currency: 'USD' }],
    ['a currency that is none', { currency: 'zzz' }],
    ['an account that is no id', { source: 'acct_\u0000' }],
    ['several accounts', { source: ['acct_alice'] }],
    ['an unknown member', { amout: 4999 }],
  ])('refuses %s, and the corrected body may use the key', async (_, change) => {
    const before = await countPayments();
    const key = randomUUID();

    expectProblem(await pay({ ...payment, ...change }, key), 400, 'invalid-input');
    expect(await countPayments()).toBe(before);
    expect((await pay({ ...payment, amount: 1 }, key)).status).toBe(201);
    expect(await countPayments()).toBe(before + 1);
  });

  it.each(['[]', '"4999"', 'null', '{'])('refuses the body %s', async (body) => {
    const before = await countPayments();
    expectProblem(await demo.postText('/payments', body, { key: randomUUID() }), 400, 'invalid-input');
    expect(await countPayments()).toBe(before);
  });

  it('does not deadlock with one in the opposite direction', async () => {
    await pay(payment);
    const there = { ...payment, amount: 1 };
    const back = { ...there, source: 'acct_shop', destination: 'acct_alice' };

    const answers = await demo.holding(
      `SELECT FROM accounts WHERE id IN ('acct_alice', 'acct_shop') FOR UPDATE`,
      async () => {
        const running = [there, back, there, back].map((request) => pay(request));
        await demo.waiting(4);
        return running;
      },
    );

    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  });
});

describe('a refund', () => {
  it('goes back in parts, up to what was paid', async () => {
    const { json } = await pay(payment);
    const before = await balance('acct_alice');

    expect(await refund(json['id'], 1000)).toMatchObject({
      status: 201,
      json: { paymentId: json['id'], amount: 1000 },
    });
    expectProblem(await refund(json['id'], 4000), 422, 'refund-exceeds-payment');
    expect((await refund(json['id'], 3999)).status).toBe(201);
    expectProblem(await refund(json['id'], 1), 422, 'refund-exceeds-payment');

    expect(await balance('acct_alice')).toBe(before + 4999);
    expect((await demo.get(`/payments/${json['id']}`)).json).toMatchObject({ amount: 4999, refunded: 4999 });
  });

  it('is made once, and a retry is given the bytes of the first answer', async () => {
    const { json } = await pay(payment);
    const key = randomUUID();

    const first = await refund(json['id'], 1000, key);
    const retry = await refund(json['id'], 1000, key);

    expect(retry.status).toBe(201);
    expect(retry.body).toBe(first.body);
    expect(await demo.rows('SELECT amount FROM refunds WHERE payment_id = $1', json['id'])).toEqual([
      { amount: '1000' },
    ]);
  });

  it('never exceeds the payment, also when several arrive at once', async () => {
    const { json } = await pay(payment);

    const answers = await demo.holding(`SELECT FROM payments WHERE id = '${json['id']}' FOR UPDATE`, async () => {
      const running = [3000, 3000, 3000].map((amount) => refund(json['id'], amount));
      await demo.waiting(3);
      return running;
    });

    expect((await Promise.all(answers)).map(({ status }) => status).sort()).toEqual([201, 422, 422]);
    expect(await demo.rows('SELECT amount FROM refunds WHERE payment_id = $1', json['id'])).toEqual([
      { amount: '3000' },
    ]);
  });

  it('needs a payment', async () => {
    expectProblem(await refund(`pay_${randomUUID()}`, 1), 404, 'payment-not-found');
    expectProblem(await refund('pay_%00', 1), 400, 'invalid-input');
  });

  it('needs money at the payee', async () => {
    const { json } = await pay({ ...payment, currency: 'eur', source: 'acct_bob', destination: 'acct_shop_eur' });
    await pay({ ...payment, currency: 'eur', source: 'acct_shop_eur', destination: 'acct_bob' });

    expectProblem(await refund(json['id'], 1), 422, 'insufficient-funds');
  });
});

describe('a merchant', () => {
  const apiKey = 'sk_demo_globex';

  it('needs an API key that exists', async () => {
    const answer = await demo.get('/accounts', { apiKey: 'sk_demo_nobody' });
    expectProblem(answer, 401, 'unauthenticated');
    expect(answer.headers.get('WWW-Authenticate')).toBe('Bearer');
    expectProblem(await demo.post('/payments', payment, { apiKey: 'sk_demo_nobody' }), 401, 'unauthenticated');
  });

  it('has a key space of its own', async () => {
    const key = randomUUID();
    const theirs = { ...payment, source: 'acct_dave', destination: 'acct_store' };

    const ours = await pay(payment, key);
    const answer = await demo.post('/payments', theirs, { apiKey, key });

    expect(answer).toMatchObject({ status: 201, json: { merchantId: 'mer_globex' } });
    expect(answer.headers.get('Idempotent-Replayed')).toBeNull();
    expect(answer.json['id']).not.toBe(ours.json['id']);
  });

  it('sees only what is its own', async () => {
    const { json } = await pay(payment);

    expectProblem(await demo.get(`/payments/${json['id']}`, { apiKey }), 404, 'payment-not-found');
    expect((await demo.get(`/ledger?payment=${json['id']}`, { apiKey })).json).toEqual({ entries: [], sum: 0 });
    expectProblem(
      await demo.post(`/payments/${json['id']}/refunds`, { amount: 1 }, { apiKey, key: randomUUID() }),
      404,
      'payment-not-found',
    );
    const accounts = (await demo.get('/accounts', { apiKey })).json as unknown as { merchantId: string }[];
    expect(new Set(accounts.map(({ merchantId }) => merchantId))).toEqual(new Set(['mer_globex']));
  });

  it('is known by the hash of its key alone', async () => {
    expect(await demo.rows(`SELECT id, api_key_sha256 FROM merchants ORDER BY id`)).toEqual([
      { id: 'mer_acme', api_key_sha256: '548f24eb3bf4276667138c5224515e6894f6dd76e7d92fad1f328f8f3f859454' },
      { id: 'mer_globex', api_key_sha256: 'ccef9bb48d47422753a4cdff337e3aed5cb17760ccc80d969dd91c2085c5d495' },
    ]);
  });
});

describe('the ledger', () => {
  it('holds both sides of a payment and of its refund', async () => {
    const { json } = await pay(payment);
    await refund(json['id'], 1000);

    expect((await demo.get(`/ledger?payment=${json['id']}`)).json).toMatchObject({
      entries: [
        { accountId: 'acct_alice', amount: -4999 },
        { accountId: 'acct_shop', amount: 4999 },
        { accountId: 'acct_shop', amount: -1000 },
        { accountId: 'acct_alice', amount: 1000 },
      ],
      sum: 0,
    });
  });

  it('sums to zero in every currency, and to the balance of every account', async () => {
    await expectBalancedBook();
  });
});

describe('the health of the app', () => {
  it('is up while the database holds every table', async () => {
    expect(await demo.get('/health')).toMatchObject({ status: 200, json: { status: 'ok' } });
  });

  it.each(['accounts', 'idempotency_records'])('is down without the table %s', async (table) => {
    await demo.rows(`ALTER TABLE ${table} RENAME TO gone`);
    try {
      expect(await demo.get('/health')).toMatchObject({ status: 503, json: { status: 'error' } });
    } finally {
      await demo.rows(`ALTER TABLE gone RENAME TO ${table}`);
    }
    expect((await demo.get('/health')).status).toBe(200);
  });
});

describe('a start', () => {
  it('leaves one schema and one seed, however many processes start at once', async () => {
    const fresh = await createTestDatabase();
    try {
      const opened = await Promise.all([1, 2, 3].map(() => openDataSource(fresh.url)));
      const [first] = opened;
      expect(await first!.query('SELECT id FROM merchants ORDER BY id')).toEqual([
        { id: 'mer_acme' },
        { id: 'mer_globex' },
      ]);
      expect(await first!.showMigrations()).toBe(false);
      await Promise.all(opened.map((dataSource) => dataSource.destroy()));
    } finally {
      await fresh.drop();
    }
  });

  it('gives the merchants of an older database the accounts that charges and settlements need', async () => {
    const old = await createTestDatabase();
    try {
      const before = new DataSource({
        type: 'postgres',
        url: old.url,
        migrations: [CreatePaymentsAndLedger1767225600000],
        migrationsRun: true,
      });
      await before.initialize();
      await before.query(`
        INSERT INTO merchants VALUES ('mer_acme', 'Acme', 'a hash');
        INSERT INTO accounts VALUES ('mer_acme', 'equity_usd', 'equity', 'usd', 0);`);
      await before.destroy();

      const opened = await openDataSource(old.url);
      expect(await opened.query(`SELECT id, kind FROM accounts WHERE merchant_id = 'mer_acme' ORDER BY id`)).toEqual([
        { id: 'bank_usd', kind: 'bank' },
        { id: 'clearing_usd', kind: 'clearing' },
        { id: 'equity_usd', kind: 'equity' },
        { id: 'sales_usd', kind: 'sales' },
      ]);
      await opened.undoLastMigration();
      await opened.undoLastMigration();
      await opened.runMigrations();
      await opened.destroy();
    } finally {
      await old.drop();
    }
  });
});
