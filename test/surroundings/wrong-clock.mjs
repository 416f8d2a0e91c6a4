/*
 * An application in a process whose clock is wrong. What it is told comes over the channel to its parent:
 * { url, offsetMs }; it tells { seen } then: what came of attempts whose times the database alone can know.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';

const [{ url, offsetMs }] = await once(process, 'message');

const RightDate = Date;
globalThis.Date = class extends RightDate {
  constructor(...given) {
    if (given.length === 0) super(RightDate.now() + offsetMs);
    else super(...given);
  }
  static now() {
    return RightDate.now() + offsetMs;
  }
};

register('../situations/payments/typescript.mjs', import.meta.url);
const { startWorkApp, pay } = await import('../module/work-app.ts');

const app = await startWorkApp({ url });
const set = (key, what) => app.witness.rows(`UPDATE idempotency_records SET ${what} WHERE key = $1`, key);
const attempt = async (key) => {
  const work = (manager, run) => pay(manager, run, `run ${app.runsOf(run)}`);
  const { status, headers } = await app.attempt(work, key);
  return [status, headers.get('Idempotent-Replayed') === 'true', Number(headers.get('Retry-After') ?? 0)];
};
const inProgress = (left) =>
  `state = 'in_progress', completed_at = NULL, locked_until = now() + interval '${left}', token = gen_random_uuid()`;

const seen = {};
seen.first = await attempt('recorded');
seen.replay = await attempt('recorded');
await attempt('expired');
await set('expired', "expires_at = now() - interval '1 second'");
seen.pastRetention = await attempt('expired');
await attempt('leased');
await set('leased', inProgress('40 seconds'));
seen.leased = await attempt('leased');
await set('leased', inProgress('-1 second'));
seen.leaseOver = await attempt('leased');
seen.times = await app.witness.rows(
  `SELECT created_at BETWEEN now() - interval '1 minute' AND now() AS is_now,
     expires_at - created_at = interval '24 hours' AS is_kept FROM idempotency_records WHERE key = 'recorded'`,
);
await app.stop();
process.send({ seen });
process.disconnect();
