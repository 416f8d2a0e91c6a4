import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useDatabase } from './database.js';
import { PASSWORD } from './payloads.js';
import { PLATFORMS, startWireApp, type WireApp } from './wire-app.js';

const database = useDatabase();

/** Everything that stands in the record of a key, bodies readable. */
async function everythingIn(key: string): Promise<string> {
  const [row] = await database.witness.query(
    `SELECT r::text || convert_from(r.response_body, 'UTF8') AS everything FROM idempotency_records r WHERE key = $1`,
    [key],
  );
  return row!.everything as string;
}

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: WireApp;

  beforeAll(async () => {
    app = await startWireApp({ platform, url: database.url });
  });

  afterAll(() => app.close());

  it.each(['inside', 'outside'])('records no field that a serializer %s the interceptor takes away', async (place) => {
    const key = randomUUID();
    const answer = await app.send({ path: `/answers/serialized-${place}`, key, body: { run: key } });
    expect(answer.body().toString()).toContain('Ada');
    const everything = await everythingIn(key);
    expect(everything).toContain('Ada');
    expect(everything).not.toContain(PASSWORD);
  });

  it('records neither cookies nor credentials nor what was asked', async () => {
    const key = randomUUID();
    const headers = { Authorization: 'Bearer secret-token', Cookie: 'theirs=secret-cookie' };
    const body = { run: key, card: '4242424242424242' };
    const answer = await app.send({ path: '/written/passthrough', key, headers, body });
    const cookies = answer.headers.filter(([name]) => name.toLowerCase() === 'set-cookie');
    const session = /^sid=([^;]+)/.exec(cookies.map(([, value]) => value).find((value) => value.startsWith('sid='))!);
    expect(cookies).toHaveLength(2);
    const everything = await everythingIn(key);
    expect(everything).toContain('/payments/42');
    for (const secret of ['secret-cookie', 'secret-token', '4242424242424242', session![1]!, 'sid', 'Cookie']) {
      expect(everything).not.toContain(secret);
    }
  });

  it('gives a replay the cookies of its own request only', async () => {
    const key = randomUUID();
    await app.send({ path: '/written/passthrough', key, body: { run: key } });
    const replay = await app.send({ path: '/written/passthrough', key, body: { run: key } });
    const cookies = replay.headers.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value);
    expect(replay.header('Idempotent-Replayed')).toBe('true');
    expect(cookies).not.toContainEqual(expect.stringContaining('seen='));
  });
});
