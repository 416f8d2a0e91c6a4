import { describe, expect, it } from '@jest/globals';
import { markReplySent } from './reply-sent.js';
import type { Held } from './wire-answer.js';

/** As Fastify does it: an accessor on the prototype. */
const proto = {
  isHijacked: false,
  get sent(): boolean {
    return this.isHijacked;
  },
};

describe('markReplySent', () => {
  it.each([
    [false, false, false],
    [true, false, true],
    [false, true, true],
  ])('with an answer ended: %s, and hijacked: %s, the reply is sent: %s', (hasEnded, isHijacked, sent) => {
    const reply = Object.assign(Object.create(proto) as typeof proto, { isHijacked });
    markReplySent(reply, { hasEnded } as Held);
    expect(reply.sent).toBe(sent);
  });
});
