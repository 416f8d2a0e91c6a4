import { expect } from '@jest/globals';
import type { EndingName } from './endings.js';
import type { Attempt, Model } from './model.js';
import { ENDPOINTS } from './operations.js';
import { ask, hasRoom, PLAIN } from './requests.js';
import { happening, type Step } from './step.js';
import { untilTables } from './tables.js';
import { seenAs, seenIn } from './wire.js';

/** The handler of an attempt ends, and its client is answered as the model says. */
export const end = (pick: number, ending: EndingName): Step =>
  happening(`end(${pick}, ${ending})`, pick, canEnd, async (attempt, model, world) => {
    const due = model.end(attempt, ending);
    const { number, operation, asked, isHeard, isForeign } = attempt;
    world.letGo(number, ending);
    if (!isHeard || isForeign) return untilTables(model, world);
    const { path } = ENDPOINTS[operation.endpoint].requests[asked];
    expect(seenIn(await world.answerTo(number))).toEqual(seenAs(due, path));
  });

/** A client leaves while its handler runs. */
export const hangUp = (pick: number): Step =>
  happening(`hangUp(${pick})`, pick, isWaitedFor, async (attempt, _, world) => {
    attempt.isHeard = false;
    await world.hangUp(attempt.number);
  });

/** The application's own timeout answers while the handler runs. */
export const timeOut = (pick: number): Step =>
  happening(`timeOut(${pick})`, pick, isWaitedFor, async (attempt, _, world) => {
    attempt.isForeign = true;
    world.timeOut(attempt.number);
    expect(seenIn(await world.answerTo(attempt.number))).toEqual(seenAs({ kind: 'timeout' }, ''));
  });

/** The process of an attempt dies, as far as the database can tell, and its client may ask again at once. */
export const cut = (pick: number, isAsked: boolean): Step =>
  happening(`cut(${pick}${isAsked ? ', asked again' : ''})`, pick, isWaitedFor, async (attempt, model, world) => {
    attempt.isCut = true;
    await world.cut(attempt.number);
    await untilTables(model, world);
    if (isAsked && hasRoom(model)) await ask(attempt.operation, attempt.asked, PLAIN, model, world);
  });

function canEnd(attempt: Attempt, model: Readonly<Model>): boolean {
  return model.canEnd(attempt);
}

/** Its client waits for what comes of it; where its session is gone as well, nobody else could tell when it is over. */
function isWaitedFor({ isHeard, isForeign, isCut }: Attempt): boolean {
  return isHeard && !isForeign && !isCut;
}
