import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { GatedController } from './gated.controller.js';
import type { Response } from './socket.js';
import { PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

const database = useDatabase();

describe.each(PLATFORMS)('a claim that is lost while the handler runs, on %s', (platform) => {
  let app: WireApp;

  beforeAll(async () => {
    app = await startWireApp({ platform, url: database.url, controllers: [GatedController] });
  });

  afterAll(() => app.close());

  /** Takes the claim over in SQL while the handler waits; the answer is what its client then gets. */
  async function lose(takeover: string, path = 'value'): Promise<{ run: string; answer: Response }> {
    const run = randomUUID();
    const headers = { Origin: 'https://shop.test' };
    const answering = app.send({ path: `/gated/${path}`, key: run, body: { run }, headers });
    await app.ledger.arrived(run);
    await database.witness.query(
      `UPDATE idempotency_records SET token = gen_random_uuid(), ${takeover} WHERE key = $1`,
      [run],
    );
    app.ledger.letGo(run);
    return { run, answer: await answering };
  }

  const STILL_RUNNING = `locked_until = now() + interval '30 seconds'`;
  const WON = `state = 'completed', completed_at = now(), locked_until = NULL, response_status = 201,
    response_headers = '[["Content-Type","text/plain"],["Location","/payments/9"]]', response_body = 'the winner''s'`;
  const WON_WITHOUT_BODY = `${WON}, response_omitted = 'too_large', resource = '/payments/9'`;

  it('undoes the work, and tells the client to wait for the new owner', async () => {
    const { run, answer } = await lose(STILL_RUNNING);
    expect(await database.witness.rowsOf(run)).toBe(0);
    expect(await database.witness.recordOf(run)).toMatchObject({ state: 'in_progress' });
    expect(answer.status).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'idempotency-request-in-progress', instance: '/gated/value' });
    expect(Number(answer.header('Retry-After'))).toBeGreaterThan(0);
  });

  it("undoes the work, and gives the client the winner's recording", async () => {
    const { run, answer } = await lose(WON);
    expect(await database.witness.rowsOf(run)).toBe(0);
    expect(answer.status).toBe(201);
    expect(answer.header('Idempotent-Replayed')).toBe('true');
    expect(answer.header('Location')).toBe('/payments/9');
    expect(answer.header('Content-Type')).toBe('text/plain');
    expect(answer.body().toString()).toBe("the winner's");
  });

  it("undoes the work, and names the resource where the winner's body was not kept", async () => {
    const { run, answer } = await lose(WON_WITHOUT_BODY);
    expect(await database.witness.rowsOf(run)).toBe(0);
    expect(answer.status).toBe(409);
    expect(answer.json()).toMatchObject({ code: 'idempotency-response-unavailable', resource: '/payments/9' });
  });

  it('gives a refused client the refusal of the winner, not its own', async () => {
    const { run, answer } = await lose(WON, 'refusal');
    expect(await database.witness.rowsOf(run)).toBe(0);
    expect(answer.status).toBe(201);
    expect(answer.body().toString()).toBe("the winner's");
  });

  it.each([
    ['waiting', STILL_RUNNING, 'no-store'],
    ['replayed', WON, undefined],
  ])('keeps what middleware gave to the answer and drops what the route gave, when %s', async (_, takeover, cache) => {
    const { answer } = await lose(takeover);
    expect(answer.header('X-Request-Id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.header('Access-Control-Allow-Origin')).toBe('https://shop.test');
    expect(answer.header('Strict-Transport-Security')).toContain('max-age');
    expect(answer.header('X-Served-By')).toBe('wire');
    expect(answer.header('X-Declared')).toBeUndefined();
    expect(answer.header('Cache-Control')).toBe(cache);
    expect(answer.isWhole).toBe(true);
  });
});
