import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import { useDatabase } from '../wire/database.js';
import { PLATFORMS } from '../wire/wire-app.js';
import { pairs } from './asked.js';
import { type FingerprintApp, startFingerprintApp } from './fingerprint-app.js';
import type { Message } from './message.js';

const RUNS = 150;

const database = useDatabase();

/** The media type without its parameters, in lower case. */
function mediaTypeOf({ headers = [] }: Message): string | undefined {
  const line = headers.find(([name]) => name === 'Content-Type');
  return line?.[1].split(';')[0]!.toLowerCase();
}

function announcesBody({ body, framing }: Message): boolean {
  return framing === 'chunked' || (body !== undefined && body.length > 0);
}

/*
 * Input is what the framework's parsers made of a request: parameters, query and body, members in any order. Requests
 * are of one kind if their media types are the same but for case and parameters, and both announce a body or neither
 * does. Of one kind and with equal input, they must be the same request; with other input, never.
 */
describe.each(PLATFORMS)('two requests on %s', (platform) => {
  let app: FingerprintApp;

  beforeAll(async () => {
    app = await startFingerprintApp({ platform, url: database.url });
  });

  afterAll(() => app.close());

  it('are one to a key if their handler would be given equal input, and two if not', async () => {
    const tally = { replayed: 0, mismatched: 0 };
    await fc.assert(
      fc.asyncProperty(pairs, async ([one, other]) => {
        const key = randomUUID();
        const first = await app.send(one, key);
        const second = await app.send(other, key);
        const alone = await app.send(other, randomUUID());
        if (!first.given || !alone.given) {
          // One of them is refused on its own. Then neither is taken for the other.
          expect(second.isReplay).toBe(false);
          expect(second.given === undefined).toBe(alone.given === undefined);
          return;
        }
        const isEqual = isDeepStrictEqual(first.given, alone.given);
        const isOneKind = mediaTypeOf(one) === mediaTypeOf(other) && announcesBody(one) === announcesBody(other);
        if (second.isReplay) {
          expect(isEqual).toBe(true);
          expect(second.response.payload).toEqual(first.response.payload);
          tally.replayed++;
        } else {
          expect(isEqual && isOneKind).toBe(false);
          expect(second.response.json()).toMatchObject({ status: 422, code: 'idempotency-key-reused' });
          tally.mismatched++;
        }
        expect(second.given).toBeUndefined();
        expect(await database.witness.rowsOf(key)).toBe(1);
      }),
      { numRuns: RUNS },
    );
    // Both happened, and often.
    expect(tally.replayed).toBeGreaterThan(RUNS / 10);
    expect(tally.mismatched).toBeGreaterThan(RUNS / 10);
  });
});
