import { Client } from 'pg';

import { eventually } from '../../wire/gate.js';
import type { App } from '../payments/app.js';
import { type Asked, OTHER_KEY, PAYMENT } from '../request.js';
import type { Situation } from '../situation.js';
import type { Stage } from '../stage.js';

export const deadlock: Situation = {
  page: 'deadlock',
  promise: 'undoes the work that has to give way: the retry runs, or the library runs it again',
  ends: { runs: 4, payments: 2, records: ['completed', 'completed'] },
  play: async (stage) => {
    const [plain, insistent] = [await stage.start(), await stage.start({ idempotency: { conflictRetries: 2 } })];
    const others = { key: OTHER_KEY, body: { ...PAYMENT, source: 'acct_bob', destination: 'acct_tax' } };
    await Promise.all([giveWay(stage, 'gives-way', plain), giveWay(stage, 'runs-again', insistent, others)]);
    await stage.exchange('retry', plain);
  },
};

/** Has a payment and another transaction lock the same two accounts in opposite order; the payment finds out. */
async function giveWay(stage: Stage, name: string, app: App, asked: Asked = {}): Promise<void> {
  const { source, destination } = { ...PAYMENT, ...asked.body };
  const rival = await Rival.of(stage.url);
  stage.finally(() => rival.close());
  await rival.lock(destination);
  const payment = await stage.begin(name, app, 'debited', asked);
  const locked = rival.lock(source);
  // A session that waits looks for a deadlock once. After that, only the other one can find it.
  await eventually('the other transaction has looked for a deadlock', () => stage.witness.hasLooked(rival.pid));
  payment.goOn();
  await locked;
  await rival.commit();
  await payment.answer;
}

/** A transaction of somebody else's. */
class Rival {
  private constructor(
    private readonly client: Client,
    readonly pid: number,
  ) {}

  static async of(url: string): Promise<Rival> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query('BEGIN');
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    return new Rival(client, rows[0]!.pid);
  }

  async lock(account: string): Promise<void> {
    await this.client.query('SELECT FROM accounts WHERE id = $1 FOR UPDATE', [account]);
  }

  async commit(): Promise<void> {
    await this.client.query('COMMIT');
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
