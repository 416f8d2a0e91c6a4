import { expect } from '@jest/globals';
import { expectNothingLeft, expectPaid, expectProblem, expectReplay, linesOf, statusLine } from './expectations.js';
import type { Answer, Sending } from './request.js';
import type { Script } from './script.js';
import { type Ending, PAID_BY_RETRY, PAID_ONCE, REFUSAL_KEPT, type Situation } from './situation.js';

export type Handler = NonNullable<Script['handler']>;

/** What becomes of work that ends in one way or another. */
export type Fate = Omit<Situation, 'when'>;

/** What the client of the first request is answered: the status line, and the body as text or as what JSON says. */
export type Said = readonly [line: string, body: unknown];

export const FAILED: Said = ['500 Internal Server Error', { statusCode: 500, message: 'Internal server error' }];

/** What a platform adds by itself to some answers, and to none of their replays. */
const OF_THE_PLATFORM = ['vary: Accept'];

function expectSaid(answer: Answer, [line, body]: Said): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expect([statusLine(answer), answer.payload.toString()]).toEqual([line, text]);
  expect(linesOf(answer)).not.toContain('idempotent-replayed: true');
}

const succeed: Handler = ({ ownReply, paid }) => (ownReply ? ownReply.status(201).send(paid) : paid);

/** Does this the first time; every other time it succeeds. */
export const atFirst =
  (handler: Handler): Handler =>
  (scene) =>
    scene.entry === 1 ? handler(scene) : succeed(scene);

/** Throws this, whatever it is. */
export const throwing =
  (thrown: unknown): Handler =>
  () => {
    throw thrown as Error;
  };

/** Recorded: the retry gets the same answer, and nothing runs. */
export const recorded = (
  said: (run: string) => Said,
  handler: Handler = succeed,
  sending: Sending = {},
  ends: Ending = PAID_ONCE,
): Fate => ({
  ends,
  play: async ({ run, script, send, records }) => {
    script.handler = handler;
    const first = await send(sending);
    expectSaid(first, said(run));
    expect(await records()).toMatchObject([{ state: 'completed', status: first.status, omitted: null }]);
    expectReplay(await send(sending), first, OF_THE_PLATFORM);
  },
});

/** Rolled back, and recorded all the same. */
export const refusalKept = (said: Said, handler: Handler, sending: Sending = {}): Fate =>
  recorded(() => said, handler, sending, REFUSAL_KEPT);

/** Rolled back and released: nothing is left of it, and the retry runs. */
export const released = (said: Said, handler: Handler, sending: Sending = {}): Fate => ({
  ends: PAID_BY_RETRY,
  play: async (stage) => {
    const { run, script, send } = stage;
    script.handler = atFirst(handler);
    expectSaid(await send(sending), said);
    await expectNothingLeft(stage);
    const retry = await send(sending);
    expect([retry.json(), retry.header('Idempotent-Replayed')]).toEqual([{ paid: run, entry: 2 }, undefined]);
  },
});

/** Refused before the handler is entered: afterwards the key is good for any request. */
export const notEntered = (said: Said, refuse: (script: Script) => void, sending: Sending = {}): Fate => ({
  ends: PAID_ONCE,
  play: async (stage) => {
    refuse(stage.script);
    expectSaid(await stage.send(sending), said);
    await expectNothingLeft(stage);
    delete stage.script.guard;
    delete stage.script.pipe;
    delete stage.script.inner;
    expectPaid(await stage.send({ path: sending.path ?? '/plain', body: '{"amount":1}' }));
  },
});

/** In place of a torso there is a problem; rolled back and released. */
export const brokenOff = (handler: Handler, sending: Sending = {}): Fate => ({
  ends: { entries: 2, payments: 0, records: [] },
  play: async (stage) => {
    stage.script.handler = handler;
    for (const _ of ['first', 'retry']) {
      expectProblem(await stage.send(sending), 'idempotency-work-broken');
      await expectNothingLeft(stage);
    }
  },
});

/** Nothing is sent but the end of the connection; rolled back and released. */
export const hungUp = (handler: Handler, sending: Sending = {}): Fate => ({
  ends: { entries: 2, payments: 0, records: [] },
  play: async (stage) => {
    stage.script.handler = handler;
    for (const _ of ['first', 'retry']) {
      expect((await stage.exchange(sending)).toString()).toBe('');
      await expectNothingLeft(stage);
    }
  },
});
