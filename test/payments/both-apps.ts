import { expect } from '@jest/globals';
import { createTestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { type LoggedCall, Psp } from '../psp/psp.js';
import type { Answer } from './demo.js';
import { startDemo } from './demo.js';

/** Long enough for every call that is answered, and not too long for those that never are. */
const DEADLINE_MS = 1_500;

/** After how long the provider comes back with an event that was not acknowledged. */
const WEBHOOK_RETRY_MS = 50;

/** How often the demo makes a call before it asks its client to come back. */
export const TRIES = 3;

/** What one side of the wire says of a charge. */
interface Booked {
  readonly reference: string;
  readonly captured: number;
  readonly refunded: number;
}

/** A call as the provider's log tells of it. */
export interface ProviderCall extends LoggedCall {
  readonly key: string | null;
  readonly status?: number;
}

/** The demo and its card provider, each with a database of its own, connected as they are in earnest. */
export async function startBoth() {
  const databases = [await createTestDatabase(), await createTestDatabase()] as const;
  const psp = await Psp.start({ databaseUrl: databases[1].url, webhookRetryMs: WEBHOOK_RETRY_MS });
  const provider = { providerUrl: `http://127.0.0.1:${psp.port}`, providerDeadlineMs: DEADLINE_MS };
  const demo = await startDemo(databases[0].url, provider);
  await psp.send('PUT', '/control/webhooks', { url: `${demo.url}/webhooks/psp` });

  return {
    demo,
    psp,
    databaseUrl: databases[0].url,

    /** The provider's calls about something, in order. */
    async callsAbout(reference: string, operation?: string): Promise<ProviderCall[]> {
      const calls = (await psp.calls()) as ProviderCall[];
      return calls.filter(
        (call) => call.references.includes(reference) && (operation === undefined || call.operation === operation),
      );
    },

    /** Resolves once the provider holds so many calls. */
    untilHeld: (count = 1): Promise<true> =>
      eventually(`the provider holds ${count} calls`, async () => {
        const held = (await psp.calls()).filter(({ heldAt }) => heldAt !== null);
        return held.length === count || undefined;
      }),

    /**
     * Runs `inside` while every transaction that changes a table fails at its COMMIT: all is written then, and nothing
     * stays.
     */
    async failingCommits(table: string, inside: () => Promise<void>): Promise<void> {
      await demo.rows(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$`);
      await demo.rows(
        `CREATE CONSTRAINT TRIGGER fail AFTER INSERT OR UPDATE ON ${table} DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW ${table === 'idempotency_records' ? `WHEN (NEW.state = 'completed')` : ''} EXECUTE FUNCTION fail()`,
      );
      try {
        await inside();
      } finally {
        await demo.rows('DROP FUNCTION fail() CASCADE');
      }
    },

    /** What the provider has done, what we say it has, and what our ledger adds up to: the same, charge by charge. */
    async expectEqualBooks(): Promise<void> {
      const { charges } = (await psp.get('/book')).json() as unknown as { charges: Booked[] };
      const theirs = charges.map(({ reference, captured, refunded }) => ({ reference, captured, refunded }));
      const ours = await demo.rows<Booked & { readonly reference: string }>(
        `SELECT merchant_id || '/' || id AS reference, captured::int, refunded::int FROM charges`,
      );
      const ledger = await demo.rows<Booked & { readonly reference: string }>(
        `SELECT charges.merchant_id || '/' || charges.id AS reference,
                coalesce(-sum(entry.amount) FILTER (WHERE entry.charge_refund_id IS NULL), 0)::int AS captured,
                coalesce(sum(entry.amount) FILTER (WHERE entry.charge_refund_id IS NOT NULL), 0)::int AS refunded
           FROM charges LEFT JOIN ledger_entries AS entry
             ON entry.merchant_id = charges.merchant_id AND entry.charge_id = charges.id
            AND entry.account_id LIKE 'clearing_%' AND entry.settlement_id IS NULL
          GROUP BY charges.merchant_id, charges.id`,
      );
      expect(sorted(ours)).toEqual(sorted(theirs));
      expect(sorted(ledger)).toEqual(sorted(theirs));
      const off = await demo.rows(
        `SELECT account.merchant_id, account.id FROM accounts AS account
           LEFT JOIN ledger_entries AS entry
             ON entry.merchant_id = account.merchant_id AND entry.account_id = account.id
          GROUP BY account.merchant_id, account.id, account.balance
         HAVING account.balance <> coalesce(sum(entry.amount), 0)`,
      );
      expect(off).toEqual([]);
      expect(await demo.rows('SELECT currency FROM ledger_entries GROUP BY 1 HAVING sum(amount) <> 0')).toEqual([]);
    },

    async stop(): Promise<void> {
      await demo.stop();
      await psp.stop();
      for (const database of databases) await database.drop();
    },
  };
}

export type Both = Awaited<ReturnType<typeof startBoth>>;

const sorted = (rows: readonly Booked[]): Booked[] =>
  [...rows].sort((one, other) => (one.reference < other.reference ? -1 : 1));

/** More than any fault lasts. */
const PATIENCE = 10;

/** Does what a client does that was asked to come back, until it is not; without the waiting. */
export async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    const answer = await send();
    if (!answer.headers.has('Retry-After') || tries === PATIENCE) return answer;
  }
}

/** The demo's own refusals, and the library's. */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect(answer).toMatchObject({ status, json: { status, code } });
  expect(answer.headers.get('Content-Type')).toMatch(/^application\/problem\+json\b/);
}
