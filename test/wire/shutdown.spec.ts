import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { eventually } from './gate.js';
import { GatedController } from './gated.controller.js';
import { PAYMENT } from './payloads.js';
import { PLATFORMS, startWireApp } from './wire-app.js';

const database = useDatabase();

describe.each(PLATFORMS)('shutting down on %s', (platform) => {
  it('lets work under way finish, records it and answers it, and takes no new work', async () => {
    const app = await startWireApp({ platform, url: database.url, controllers: [GatedController] });
    const run = randomUUID();
    const answering = app.send({ path: '/gated/value', key: run, body: { run } });
    await app.ledger.arrived(run);
    let isClosed = false;
    const closing = app.close().then(() => (isClosed = true));

    const refusal = await eventually('new work is refused', async () => {
      const late = randomUUID();
      const answer = await app.send({ path: '/answers/json', key: late, body: { run: late } });
      return answer.status === 503 ? { answer, late } : null;
    });
    expect(refusal.answer.status).toBe(503);
    expect(await database.witness.recordOf(refusal.late)).toBeNull();
    expect(await database.witness.rowsOf(refusal.late)).toBe(0);

    expect(isClosed).toBe(false);
    app.ledger.letGo(run);
    const answer = await answering;
    expect(answer.status).toBe(202);
    expect(answer.json()).toEqual(PAYMENT);
    await closing;
    expect(await database.witness.recordOf(run)).toEqual({
      state: 'completed',
      status: 202,
      omitted: null,
      hasBody: true,
    });
    expect(await database.witness.rowsOf(run)).toBe(1);
  });
});
