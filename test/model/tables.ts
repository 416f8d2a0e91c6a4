import { isDeepStrictEqual } from 'node:util';
import { expect } from '@jest/globals';
import { eventually } from '../wire/gate.js';
import type { Model, OperationRecord } from './model.js';
import type { Row, World } from './world.js';

/** The tables are as the model says, and whoever is not under way holds no connection. */
export async function expectTables(model: Model, world: World): Promise<void> {
  expect(await tables(world)).toEqual(tablesOf(model));
}

/** Waits until they are: nobody was told when. */
export async function untilTables(model: Model, world: World): Promise<void> {
  const due = tablesOf(model);
  const asDue = eventually('the tables are as the model says', async () => isDeepStrictEqual(await tables(world), due));
  // Whoever waited in vain wants to know what for.
  await asDue.catch(() => expectTables(model, world));
}

interface Tables {
  /** How many connections are taken: one for every attempt under way that has a session, none for anybody else. */
  readonly connections: number;
  readonly effects: readonly number[];
  readonly records: readonly Row[];
}

async function tables(world: World): Promise<Tables> {
  const effects = await world.effects();
  const records = await world.records();
  return { connections: world.connections(), effects, records: sorted(records) };
}

function tablesOf({ underWay, effects, records }: Model): Tables {
  return {
    connections: underWay.filter(({ isCut }) => !isCut).length,
    effects: [...effects].sort((a, b) => a - b),
    records: sorted([...records.values()].map(rowOf)),
  };
}

function rowOf(record: OperationRecord): Row {
  const { operation, isExpired } = record;
  if (record.state === 'in progress') {
    return { ...operation, state: 'in_progress', isLive: record.isLeaseLive, isExpired, status: null, hasBody: false };
  }
  const { status, answer } = record;
  const hasBody = answer.kind === 'replay' && answer.ending !== 'done, nothing to say';
  return { ...operation, state: 'completed', isLive: false, isExpired, status, hasBody };
}

function sorted(rows: readonly Row[]): Row[] {
  const name = ({ tenant, endpoint, key }: Row): string => `${tenant} ${endpoint} ${key}`;
  return [...rows].sort((a, b) => name(a).localeCompare(name(b)));
}
