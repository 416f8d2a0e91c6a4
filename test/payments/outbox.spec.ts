import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Both, startBoth } from './both-apps.js';
import type { Answer } from './demo.js';

jest.setTimeout(60_000);

let both: Both;

/** There is no broker. */
beforeAll(async () => {
  both = await startBoth();
});

afterAll(() => both?.stop());

const charge = (asked: object = {}, key: string = randomUUID()): Promise<Answer> =>
  both.demo.post('/charges', { amount: 4999, currency: 'usd', card: 'tok_visa', ...asked }, { key });

interface Pending {
  readonly payload: Record<string, unknown>;
  readonly attempts: number;
}

/** The events that wait to be published, and how often that was tried. */
const pending = (): Promise<Pending[]> =>
  both.demo.rows(
    `SELECT task.payload, job.attempts FROM graphile_worker._private_jobs AS task
       JOIN graphile_worker.jobs AS job USING (id) WHERE job.task_identifier = 'publish-event' ORDER BY id`,
  );

describe('payment.charged', () => {
  it('waits for a broker from the commit of its charge on, once for all retries', async () => {
    const key = randomUUID();
    const { json } = await charge({}, key);
    await charge({}, key);
    const reference = `mer_acme/${json['id']}`;
    expect(await pending()).toEqual([
      {
        attempts: 0,
        payload: {
          specversion: '1.0',
          type: 'payment.charged',
          source: '/payments',
          id: `payment.charged/${reference}`,
          data: { charge: reference, amount: 4999, currency: 'usd' },
        },
      },
    ]);
  });

  it('is not there where the charge did not commit, and is when its retry did', async () => {
    const before = await pending();
    const key = randomUUID();
    await both.failingCommits('charges', async () => {
      expect((await charge({}, key)).status).toBe(500);
      expect(await pending()).toEqual(before);
    });
    expect((await charge({}, key)).status).toBe(201);
    expect(await pending()).toHaveLength(before.length + 1);
  });

  it.each([
    ['a card that was declined', { card: 'tok_declined' }, 402],
    ['money that is only held', { capture: false }, 201],
  ])('is not there for %s', async (_, asked, status) => {
    const before = await pending();
    expect((await charge(asked)).status).toBe(status);
    expect(await pending()).toEqual(before);
  });
});
