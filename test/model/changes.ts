import type { OperationRecord } from './model.js';
import { ask, hasRoom, PLAIN } from './requests.js';
import { change, Step } from './step.js';
import type { World } from './world.js';

/** The lease of an operation runs out. */
export const lapse = (pick: number): Step =>
  change(`lapse(${pick})`, pick, isLeased, (record, _, world) => runOut(record, world));

/** It runs out and the client asks again at once: two workers for one operation. */
export const overtake = (pick: number): Step =>
  change(`overtake(${pick})`, pick, isLeased, async (record, model, world) => {
    await runOut(record, world);
    const { operation, asked } = record;
    if (hasRoom(model)) await ask(operation, asked, PLAIN, model, world);
  });

/** The retention of a record runs out, in whichever state it is. */
export const expire = (pick: number): Step =>
  change(`expire(${pick})`, pick, isKept, async (record, _, world) => {
    record.isExpired = true;
    await world.expire(record.operation);
  });

/** Somebody deletes what is past its retention. */
export const sweep = (): Step =>
  new Step(
    'sweep()',
    ({ records }) => records.size > 0,
    async (model, world) => {
      model.sweep();
      await world.sweep();
    },
  );

async function runOut(record: OperationRecord, world: World): Promise<void> {
  if (record.state === 'in progress') record.isLeaseLive = false;
  await world.lapse(record.operation);
}

function isLeased(record: OperationRecord): boolean {
  return record.state === 'in progress' && record.isLeaseLive;
}

function isKept({ isExpired }: OperationRecord): boolean {
  return !isExpired;
}
