import { expect } from '@jest/globals';
import type { Client } from 'pg';
import { type DatabaseProxy, isQuery } from '../faults/database-proxy.js';
import { eventually } from '../wire/gate.js';
import { type Response, send } from '../wire/socket.js';
import type { ConfidingApp } from './confiding-app.js';
import type { Evidence } from './evidence.js';
import type { Secrets } from './secrets.js';

interface Asked {
  /** The last part of the path. */
  readonly route: string;
  /** What follows the secret in the key; keys differ by it. */
  readonly key: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
}

/** Has everything happen to one application that can happen to operations, and keeps all that is seen of it. */
export class Life {
  constructor(
    private readonly app: ConfidingApp,
    private readonly secrets: Secrets,
    private readonly evidence: Evidence,
    private readonly witness: Client,
    private readonly proxy: DatabaseProxy,
  ) {}

  async live(): Promise<void> {
    await this.doneAndReplayed();
    await this.refusedByTheLibrary();
    await this.failed();
    await this.inSteps();
    await this.inFlight();
    await this.undecryptable();
    await this.refusedByTheDatabase();
    await this.withoutDatabase();
    await this.evidence.addTables(this.witness);
  }

  private async doneAndReplayed(): Promise<void> {
    for (const route of ['ordinary', 'transaction', 'status-only', 'encrypted']) {
      await this.expectStatus(201, { route, key: route });
      await this.expectStatus(201, { route, key: route });
    }
    await this.expectStatus(422, { route: 'refused', key: 'refused' });
    await this.expectStatus(422, { route: 'refused', key: 'refused' });
    await this.expectStatus(201, { route: 'after-commit', key: 'after-commit' });
    await this.expectStatus(201, { route: 'stray', key: 'stray' });
  }

  private async refusedByTheLibrary(): Promise<void> {
    const other = { card: `another ${this.secrets['a field of the request body']}` };
    await this.expectStatus(422, { route: 'ordinary', key: 'ordinary', body: other });
    await this.expectStatus(422, { route: 'ordinary', key: 'ordinary', headers: { 'X-Api-Key': 'another' } });
    for (const bad of ['"', ', ', '\u00fc']) {
      const key = `${this.secrets['a key that is no valid key']}${bad}`;
      await this.expectStatus(400, { route: 'ordinary', key: '', headers: { 'Idempotency-Key': key } });
    }
    await this.expectStatus(500, { route: 'ordinary', key: 'nobody', headers: { 'X-Tenant': '' } });
    await this.expectStatus(500, { route: 'fingerprinted', key: 'fingerprinted' });
    await this.expectStatus(201, { route: 'authorized', key: 'authorized' });
    await this.expectStatus(500, { route: 'authorized', key: 'authorized' });
  }

  private async failed(): Promise<void> {
    for (const route of ['thrown', 'query-failed', 'swallowed', 'committed-by-itself', 'deferred', 'unsealed']) {
      await this.expectStatus(500, { route, key: route });
    }
  }

  private async inSteps(): Promise<void> {
    await this.expectStatus(500, { route: 'step-held', key: 'step-held' });
    await this.expectStatus(201, { route: 'step-recorded', key: 'step-recorded' });
    await this.expectStatus(422, { route: 'step-refused', key: 'step-refused' });
    await this.expectStatus(422, { route: 'step-refused', key: 'step-refused' });
    await this.expectStatus(409, { route: 'step-unknown', key: 'step-unknown' });
  }

  /** A duplicate comes while the handler runs; then somebody else takes its claim. */
  private async inFlight(): Promise<void> {
    const asked = { route: 'halting', key: 'halting' };
    const first = this.ask(asked);
    await this.app.halt.arrived.passed;
    await this.evidence.addStatements(this.witness);
    await this.expectStatus(409, asked);
    await this.witness.query(`UPDATE idempotency_records SET token = gen_random_uuid() WHERE key LIKE '%halting'`);
    this.app.halt.left.open();
    expect((await first).status).toBe(409);
  }

  private async undecryptable(): Promise<void> {
    await this.witness.query(
      `UPDATE idempotency_records SET response_body = set_byte(response_body, 40, get_byte(response_body, 40) # 1)
        WHERE key LIKE '%encrypted'`,
    );
    await this.expectStatus(409, { route: 'encrypted', key: 'encrypted' });
  }

  /** The database refuses a row, and shows the whole of it where it says why. */
  private async refusedByTheDatabase(): Promise<void> {
    await this.witness.query(
      `ALTER TABLE idempotency_records ADD CONSTRAINT unclaimed CHECK (key NOT LIKE '%unclaimed'),
         ADD CONSTRAINT unrecorded CHECK (key NOT LIKE '%unrecorded' OR state = 'in_progress')`,
    );
    await this.expectStatus(503, { route: 'ordinary', key: 'unclaimed' });
    await this.expectStatus(500, { route: 'ordinary', key: 'unrecorded' });
    await this.expectStatus(500, { route: 'transaction', key: 'unrecorded' });
    await this.expectStatus(500, { route: 'refused', key: 'unrecorded' });
  }

  /** The database goes away at the claim, at the recording and at the COMMIT; then altogether. */
  private async withoutDatabase(): Promise<void> {
    for (const statement of ['idempotency_claim', 'idempotency_record', 'COMMIT']) {
      this.proxy.intercept = (chunk) => (chunk.includes(statement) ? 'cut' : 'pass');
      const { status } = await this.ask({ route: 'cut-off', key: `cut at ${statement}` });
      expect(status).toBeGreaterThanOrEqual(500);
      await this.proxy.heal();
    }
    this.proxy.intercept = (chunk) => (isQuery(chunk, 'COMMIT') ? 'pass and cut' : 'pass');
    await this.expectStatus(201, { route: 'status-only', key: 'lost' });
    await this.proxy.refuse();
    await this.expectStatus(503, { route: 'ordinary', key: 'away' });
    await this.proxy.heal();
    await eventually('the database is back', async () => {
      return (await this.ask({ route: 'ordinary', key: 'back' })).status === 201;
    });
  }

  private async expectStatus(status: number, asked: Asked): Promise<void> {
    const answer = await this.ask(asked);
    expect([asked.route, answer.status, answer.payload.toString()]).toEqual([
      asked.route,
      status,
      answer.payload.toString(),
    ]);
  }

  /** Sends a request full of secrets. */
  private async ask({ route, key, headers, body }: Asked): Promise<Response> {
    const { secrets } = this;
    const answer = await send(this.app.port, {
      path: `/vaults/${secrets['the path']}/${route}?token=${secrets['the query']}`,
      headers: {
        'Idempotency-Key': `${secrets['the key']}-${key.replaceAll(' ', '-')}`,
        Authorization: `Bearer ${secrets['the Authorization header']}`,
        Cookie: `session=${secrets['the Cookie header']}`,
        'X-Tenant': secrets['the tenant'],
        'X-Api-Key': secrets['a request header that counts for the fingerprint'],
        ...headers,
      },
      body: body ?? { card: secrets['a field of the request body'] },
    });
    this.evidence.addAnswer(answer);
    await this.evidence.addStatements(this.witness);
    return answer;
  }
}
