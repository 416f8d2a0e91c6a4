import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { eventually } from './gate.js';
import { GatedController } from './gated.controller.js';
import { PAYMENT } from './payloads.js';
import { bytesOf, dial, type Request } from './socket.js';
import { PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

const database = useDatabase();

describe.each(PLATFORMS)('a client that hangs up, on %s', (platform) => {
  let app: WireApp;

  beforeAll(async () => {
    app = await startWireApp({ platform, url: database.url, controllers: [GatedController] });
  });

  afterAll(() => app.close());

  const request = (path: string, run: string): Request => ({
    path: `/gated/${path}`,
    key: run,
    body: { run },
    headers: { 'X-Run': run },
  });

  /** Sends a request and hangs up while it waits at the gate; returns when the server has noticed. */
  async function hangUpAtTheGate(path: string): Promise<string> {
    const run = randomUUID();
    const socket = await dial(app.port);
    socket.write(bytesOf(request(path, run)));
    await app.ledger.arrived(run);
    socket.destroy();
    await eventually('the server notices that the client left', () => app.closed.has(run));
    return run;
  }

  const isCompleted = async (run: string) => (await database.witness.recordOf(run))?.state === 'completed';

  it.each([
    ['before the handler is entered', 'piped-in', 201],
    ['while the handler runs', 'value', 202],
  ])('%s stops nothing: the work is committed, and its answer is kept whole', async (_, path, status) => {
    const run = await hangUpAtTheGate(path);
    app.ledger.letGo(run);
    await eventually('the work is recorded', () => isCompleted(run));
    expect(await database.witness.rowsOf(run)).toBe(1);
    const retry = await app.send(request(path, run));
    expect(retry.header('Idempotent-Replayed')).toBe('true');
    expect(retry.status).toBe(status);
    expect(retry.json()).toEqual(PAYMENT);
    expect(app.ledger.entriesOf(run)).toBe(1);
  });

  it('while the handler runs learns later that it was refused', async () => {
    const run = await hangUpAtTheGate('refusal');
    app.ledger.letGo(run);
    await eventually('the refusal is recorded', () => isCompleted(run));
    expect(await database.witness.rowsOf(run)).toBe(0);
    const retry = await app.send(request('refusal', run));
    expect(retry.header('Idempotent-Replayed')).toBe('true');
    expect(retry.status).toBe(400);
    expect(app.ledger.entriesOf(run)).toBe(1);
  });

  it('while the body streams has its work committed, without the body', async () => {
    const run = await hangUpAtTheGate('stream');
    await eventually('the work is recorded', () => isCompleted(run));
    app.ledger.letGo(run);
    expect(await database.witness.recordOf(run)).toEqual({
      state: 'completed',
      status: 201,
      omitted: 'client_left',
      hasBody: false,
    });
    expect(await database.witness.rowsOf(run)).toBe(1);
    const retry = await app.send(request('stream', run));
    expect(retry.status).toBe(409);
    expect(retry.json()).toMatchObject({ code: 'idempotency-response-unavailable' });
    expect(app.ledger.entriesOf(run)).toBe(1);
  });

  it('on a route that never answers has its work undone, and released', async () => {
    const run = await hangUpAtTheGate('silent');
    expect(await database.witness.recordOf(run)).toMatchObject({ state: 'in_progress' });
    app.ledger.letGo(run);
    await eventually('the claim is released', async () => (await database.witness.recordOf(run)) === null);
    expect(await database.witness.rowsOf(run)).toBe(0);
  });
});
