import { expect } from '@jest/globals';
import type { Model } from './model.js';
import { type Asked, ENDPOINTS, nameOf, NONSENSE, type Operation } from './operations.js';
import { picked, Step } from './step.js';
import { seenAs, seenIn } from './wire.js';
import type { World } from './world.js';

/** How a request is put; what is asked is the same. */
export interface Spelling {
  readonly isKeyQuoted: boolean;
  /** The order of the body's members, and headers that say nothing about what is asked. */
  readonly isTurned: boolean;
}

export const PLAIN: Spelling = { isKeyQuoted: false, isTurned: false };

/** More would only spread over more operations what is to meet in one. */
const MAX_UNDER_WAY = 8;

export function hasRoom({ underWay }: Readonly<Model>): boolean {
  return underWay.length < MAX_UNDER_WAY;
}

/** A client asks. */
export const request = (operation: Operation, asked: Asked, spelling: Spelling): Step =>
  new Step(`request(${nameOf(operation)}, ${asked}${textOf(spelling)})`, hasRoom, (model, world) =>
    ask(operation, asked, spelling, model, world),
  );

/** A client asks for what was asked before, or for something else under its key. */
export const again = (pick: number, isSame: boolean, spelling: Spelling): Step =>
  new Step(
    `again(${pick}, ${isSame ? 'the same' : 'another'}${textOf(spelling)})`,
    (model) => hasRoom(model) && model.records.size > 0,
    async (model, world) => {
      const { operation, asked } = picked([...model.records.values()], pick);
      const other = asked === 'a' ? 'b' : 'a';
      await ask(operation, isSame ? asked : other, spelling, model, world);
    },
  );

/** A client asks for what is no operation. */
export const nonsense = (name: keyof typeof NONSENSE): Step =>
  new Step(
    `nonsense(${name})`,
    () => true,
    async (model, world) => {
      const { tenant, key, ...refusal } = NONSENSE[name];
      const { path, body } = ENDPOINTS.payments.requests.a;
      const came = await world.send(model.nextAttempt++, { path, body, tenant, key, isTurned: false });
      expect(came === 'entered' ? 'enters' : seenIn(came)).toEqual(seenAs({ kind: 'problem', ...refusal }, path));
    },
  );

/** Sends a request: it is answered at once as the model says, or its handler is entered. */
export async function ask(
  operation: Operation,
  asked: Asked,
  { isKeyQuoted, isTurned }: Spelling,
  model: Model,
  world: World,
): Promise<void> {
  const { nextAttempt } = model;
  const due = model.arrive(operation, asked);
  const { tenant, endpoint } = operation;
  const key = isKeyQuoted ? `"${operation.key}"` : operation.key;
  const { path, body } = ENDPOINTS[endpoint].requests[asked];
  const came = await world.send(nextAttempt, { path, body, tenant, key, isTurned });
  expect(came === 'entered' ? 'enters' : seenIn(came)).toEqual(due === 'enters' ? due : seenAs(due, path));
}

function textOf({ isKeyQuoted, isTurned }: Spelling): string {
  return `${isKeyQuoted ? ', quoted' : ''}${isTurned ? ', turned' : ''}`;
}
