import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { IdempotentOperation, OperationOptions } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from '../module/gate.js';
import { pay, prepareDatabase } from '../module/work-app.js';
import { Witness } from '../module/witness.js';
import { message, request, type ServiceApp, startServiceApp } from './service-app.js';

jest.setTimeout(120_000);

const CALLS = 50;
const ROUNDS = 10;

let database: TestDatabase;
let witness: Witness;
let apps: ServiceApp[];

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
  const start = () => startServiceApp({ url: database.url, typeorm: { poolSize: 2 } });
  apps = [await start(), await start()];
});

afterAll(async () => {
  for (const app of apps ?? []) await app.stop();
  await witness?.close();
  await database?.drop();
});

/** Pays in a way of its own each time: nothing but the library keeps it from being seen twice. */
async function work({ manager, key }: IdempotentOperation): Promise<string> {
  const label = randomUUID();
  await pay(manager, key, label);
  return label;
}

const OPTIONS: [how: string, options: OperationOptions][] = [
  ['under leases', {}],
  ["under `claim: 'transaction'`", { claim: 'transaction' }],
];

describe.each(OPTIONS)(`${CALLS} calls at once over two applications with small pools, %s`, (_, options) => {
  it(`of run() have one effect, and are refused or given its value, ${ROUNDS} times over`, async () => {
    const seen = { refused: 0, replayed: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const asked = request(options);
      const calls = Array.from({ length: CALLS }, (_, call) =>
        apps[(call + round) % 2]!.service.run(asked, work).catch((error: unknown) => error as { code: string }),
      );
      const ended = await Promise.all(calls);
      const executed = ended.filter((end) => 'kind' in end && end.kind === 'executed');
      expect(executed).toHaveLength(1);
      const { value } = executed[0] as { readonly value: string };
      const replay = { kind: 'replayed', value };
      const others = ended.filter((end) => end !== executed[0]);
      for (const end of others) {
        if ('kind' in end) expect(end).toEqual(replay);
        else expect(end.code).toBe('idempotency-request-in-progress');
      }
      seen.replayed += others.filter((end) => 'kind' in end).length;
      seen.refused += others.filter((end) => !('kind' in end)).length;
      for (const app of apps) expect(await app.service.run(asked, work)).toEqual(replay);
      expect(await witness.payments(asked.key)).toEqual([value]);
    }
    expect(seen.refused).toBeGreaterThan(0);
    expect(seen.replayed + seen.refused).toBe(ROUNDS * (CALLS - 1));
    for (const app of apps) await eventually('every connection is back in the pool', () => app.isPoolAtRest());
  });

  it(`of consume() have one effect, and none is parked, ${ROUNDS} times over`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const delivered = message({ ...options, maxTries: 1 });
      const settlements = await Promise.all(
        Array.from({ length: CALLS }, (_, call) => apps[(call + round) % 2]!.service.consume(delivered, work)),
      );
      const [label, ...more] = await witness.payments(delivered.key);
      expect(more).toEqual([]);
      const executed = settlements.filter((end) => end.kind === 'acknowledge' && end.outcome.kind === 'executed');
      expect(executed).toEqual([{ kind: 'acknowledge', outcome: { kind: 'executed', value: label } }]);
      for (const settlement of settlements.filter((end) => end !== executed[0])) {
        if (settlement.kind === 'acknowledge') expect(settlement.outcome).toEqual({ kind: 'replayed', value: label });
        else expect(settlement).toMatchObject({ kind: 'retry', error: { code: 'idempotency-request-in-progress' } });
      }
    }
  });
});
