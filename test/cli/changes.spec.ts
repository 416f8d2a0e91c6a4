import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';

import { eventually } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Callee } from '../steps/plays.js';
import { Cli, type Ended, environmentOf } from './cli.js';
import { passwordOf, Scene, SECRETS } from './scene.js';

jest.setTimeout(60_000);

let scene: Scene;
let key: string;

beforeAll(async () => {
  scene = await Scene.open();
});

afterAll(() => scene?.close());

beforeEach(() => {
  key = randomUUID();
});

/** A request of the endpoint that pays, which writes this label. */
const retry = (label: string) => scene.stage.app.attempt((manager, run) => pay(manager, run, label), key);

const release = (...args: string[]) => ['release', '', 'POST /work', key, ...args];
const expire = (...args: string[]) => ['expire', '', 'POST /work', key, ...args];
const resolve = (...args: string[]) => ['resolve', '', 'plays', key, 'charge', ...args];

const isRefused = (ended: Ended, reason: string): void => {
  expect(ended).toMatchObject({ code: 1, stderr: expect.stringMatching(/\S/) });
  expect(ended.json()).toEqual({ refused: reason });
};

/** Runs a command that must not change the record. */
async function unchanged(command: readonly string[]): Promise<Ended> {
  const before = await scene.row(key);
  const ended = await scene.cli.run(...command);
  expect(await scene.row(key)).toEqual(before);
  return ended;
}

describe('release', () => {
  it('refuses a live lease, and says what --force means', async () => {
    const { goOn, answered } = await scene.paying(key);
    const ended = await unchanged(release('--yes', '--json'));
    isRefused(ended, 'lease_is_live');
    expect(ended.stderr).toContain('the worker, if it lives, then loses at its recording');
    goOn();
    expect((await answered).status).toBe(201);
  });

  it('by force has a retry run at once, and the worker that held it rolled back', async () => {
    const { goOn, answered } = await scene.paying(key);
    expect((await retry('second')).status).toBe(409);
    const { code, json } = await scene.cli.run(...release('--force', '--yes', '--json'));
    expect(code).toBe(0);
    expect(json()).toMatchObject({ changed: true, record: { key, state: 'in_progress', attempts: 1 } });
    const second = await retry('second');
    expect(second.status).toBe(201);
    goOn();
    expect(await answered).toMatchObject({ status: 201, body: second.body });
    expect(await scene.payments(key)).toEqual(['second']);
  });

  it('shows what it saw, asks, and fences the stalled worker out', async () => {
    const { goOn, answered } = await scene.stalled(key);
    const { token } = await scene.row(key);
    const asking = await scene.cli.ask(...release());
    expect(asking.seen).toMatch(/^state +abandoned, for 5\dm: /m);
    expect(asking.seen).toMatch(new RegExp(`^attempts +1\ntoken +${String(token).slice(0, 8)}$`, 'm'));
    expect(await asking.answer('yes\n')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Released:/) });
    goOn();
    expect((await answered).status).toBe(503);
    expect(await scene.payments(key)).toEqual([]);
    expect((await retry('second')).status).toBe(201);
    expect(await scene.payments(key)).toEqual(['second']);
  });

  it('leaves alone what nobody holds, what is completed, and what is not there', async () => {
    const nothing = await scene.cli.run(...release('--yes', '--json'));
    isRefused(nothing, 'not_found');
    await retry('first');
    isRefused(await unchanged(release('--yes', '--json')), 'not_in_progress');
    await scene.failedAfterStep(key);
    const free = await scene.cli.run('release', '', 'plays', key, '--yes', '--json');
    expect(free).toMatchObject({ code: 0, stderr: '' });
    expect(free.json()).toMatchObject({ changed: false });
  });

  it('changes nothing when another worker has taken it over, and stalls as well, before the yes', async () => {
    await scene.stalled(key);
    const asking = await scene.cli.ask(...release());
    const { goOn, answered } = await scene.stalled(key, 'second');
    const before = await scene.row(key);
    expect(before).toMatchObject({ state: 'in_progress', attempts: 2 });
    expect(await asking.answer('yes\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('moved on') });
    expect(await scene.row(key)).toEqual(before);
    goOn();
    expect((await answered).status).toBe(201);
  });

  it('changes nothing when its worker comes back to life before the yes', async () => {
    const { goOn, answered } = await scene.stalled(key);
    const asking = await scene.cli.ask(...release());
    await scene.stage.app.witness.rows(
      `UPDATE idempotency_records SET locked_until = now() + interval '1 minute' WHERE key = $1`,
      key,
    );
    expect(await asking.answer('yes\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('moved on') });
    goOn();
    expect((await answered).status).toBe(201);
    expect(await scene.payments(key)).toEqual(['slow']);
  });
});

describe('expire', () => {
  it('says loudly what it means, and has the next request run as a new operation', async () => {
    const first = await retry('first');
    expect(await retry('second')).toMatchObject({ status: 201, body: first.body });
    expect(await scene.payments(key)).toEqual(['first']);
    const { code, stderr, json } = await scene.cli.run(...expire('--yes', '--json'));
    expect(code).toBe(0);
    expect(stderr).toContain('IS A NEW OPERATION');
    expect(json()).toMatchObject({ changed: true, record: { state: 'completed' } });
    expect((await retry('second')).headers.get('Idempotent-Replayed')).toBeNull();
    expect(await scene.payments(key)).toEqual(['first', 'second']);
  });

  it('frees a key that is remembered as used', async () => {
    await scene.post('remembered', key);
    await scene.age(key, '25h');
    expect((await scene.post('remembered', key)).status).toBe(409);
    expect((await scene.cli.run('expire', '', 'remembered', key, '--yes')).code).toBe(0);
    expect((await scene.post('remembered', key)).status).toBe(201);
  });

  it('leaves alone what has no recording, and what is forgotten already', async () => {
    const { goOn } = await scene.paying(key);
    isRefused(await unchanged(expire('--yes', '--json')), 'not_completed');
    goOn();
    key = randomUUID();
    await retry('first');
    await scene.age(key, '25h');
    const ended = await unchanged(expire('--yes', '--json'));
    expect([ended.code, ended.json()]).toMatchObject([0, { changed: false, record: { state: 'expired' } }]);
  });

  it('changes nothing when the record moves on before the yes', async () => {
    await retry('first');
    const asking = await scene.cli.ask(...expire());
    await scene.age(key, '25h');
    await retry('second');
    const before = await scene.row(key);
    expect(await asking.answer('yes\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('moved on') });
    expect(await scene.row(key)).toEqual(before);
  });
});

describe('resolve', () => {
  beforeEach(async () => {
    await scene.unknown(key);
  });

  /** The client comes back, to a provider that answers. */
  const back = async () => {
    const provider = new Callee('ch_2');
    const { status } = await scene.unknown(key, provider);
    return { status, calls: provider.calls.length, payments: await scene.payments(key) };
  };

  it('of a call that happened has the retry go on with its value', async () => {
    const { code, json } = await scene.cli.run(...resolve('--happened', '"ch_1"', '--yes', '--json'));
    expect(code).toBe(0);
    expect(json()).toMatchObject({ changed: true, record: { state: 'unknown', attempts: 1 } });
    expect(await back()).toEqual({ status: 201, calls: 0, payments: ['ch_1'] });
  });

  it('of a call that was refused has the retry told so', async () => {
    expect((await scene.cli.run(...resolve('--refused', 'no funds', '--yes'))).code).toBe(0);
    let refusal: unknown;
    await scene.stage.play(key, async (operation) => {
      await operation.step('charge', new Callee('never').call).catch((error: unknown) => (refusal = error));
      return {};
    });
    expect(refusal).toMatchObject({ name: 'StepRefusedError', step: 'charge', message: 'no funds' });
  });

  it('of a call that did not happen has the retry make it, and says so', async () => {
    const { code, stderr } = await scene.cli.run(...resolve('--did-not-happen', '--yes'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('MAKES THE CALL AGAIN') });
    expect(await back()).toEqual({ status: 201, calls: 1, payments: ['ch_2'] });
  });

  it('refuses what it cannot put on record', async () => {
    const [other, known] = await Promise.all([
      scene.cli.run('resolve', '', 'plays', key, 'chrage', '--did-not-happen', '--yes'),
      scene.cli.run('resolve', '', 'plays', key, 'authorize', '--did-not-happen', '--yes', '--json'),
    ]);
    expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining("It has: 'authorize', 'charge'.") });
    isRefused(known, 'result_is_known');
    await scene.stage.app.witness.rows(
      `UPDATE idempotency_records SET locked_until = now() + interval '1 minute' WHERE key = $1`,
      key,
    );
    isRefused(await unchanged(resolve('--did-not-happen', '--yes', '--json')), 'lease_is_live');
  });

  it('changes nothing when the call is made again before the yes', async () => {
    const asking = await scene.cli.ask(...resolve('--did-not-happen'));
    await scene.unknown(key, new Callee('never'));
    await scene.stage.play(key, (operation) => operation.step('charge', new Callee(500).call));
    const before = [await scene.row(key), await scene.stage.steps(key)];
    expect(await asking.answer('yes\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('moved on') });
    expect([await scene.row(key), await scene.stage.steps(key)]).toEqual(before);
  });
});

describe('a change', () => {
  it('is not made unless the answer is yes', async () => {
    await retry('first');
    const before = await scene.row(key);
    const [no, nothing] = await Promise.all([scene.cli.ask(...expire()), scene.cli.ask(...expire('--json'))]);
    expect(await no.answer('y\n')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Nothing was changed\.\n$/),
    });
    isRefused(await nothing.answer(''), 'not_confirmed');
    const asking = await scene.cli.ask(...expire());
    expect(await asking.interrupt()).toMatchObject({
      code: 130,
      stderr: expect.stringMatching(/Nothing was changed\.\n$/),
    });
    expect(await scene.row(key)).toEqual(before);
  });

  it('of which the answer is lost, or not waited for, is said to be unknown', async () => {
    await retry('first');
    const { witness } = scene.stage.app;
    const holder = new Client({ connectionString: scene.stage.url });
    await holder.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT FROM idempotency_records WHERE key = $1 FOR UPDATE', [key]);
      const changing = async () => {
        const { ended, child } = scene.cli.start(expire('--yes'));
        const pid = await eventually('it waits for the row', async () => {
          const [waiting] = await witness.rows<{ pid: number }>(
            `SELECT pid FROM pg_stat_activity WHERE application_name = 'nestjs-idempotency' AND wait_event_type = 'Lock'
               AND datname = current_database()`,
          );
          return waiting?.pid;
        });
        return { ended, child, pid };
      };
      const cut = await changing();
      await witness.rows('SELECT pg_terminate_backend($1)', cut.pid);
      expect(await cut.ended).toMatchObject({ code: 3, stderr: expect.stringContaining('It is not known') });
      const left = await changing();
      left.child.kill('SIGINT');
      expect(await left.ended).toMatchObject({ code: 130, stderr: expect.stringContaining('It is not known') });
    } finally {
      await holder.end();
    }
  });

  it('is refused without a terminal to ask on, before anything is looked at', async () => {
    const away = new Cli(environmentOf('postgres://user:secret@127.0.0.1:1/none'));
    const commands = [release(), expire(), resolve('--did-not-happen')];
    for (const ended of await Promise.all(commands.map((command) => away.run(...command)))) {
      expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Say --yes') });
    }
  });

  it('shows no secret: no result, no password', () => {
    expect(scene.cli.written).toContain('Released:');
    expect(Object.values(SECRETS).filter((secret) => scene.cli.written.includes(secret))).toEqual([]);
    expect(scene.cli.written).not.toContain(passwordOf(scene.stage.url));
  });
});
