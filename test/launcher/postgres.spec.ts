import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { type Launched, endAll, launch } from './launch.js';

const SCRIPT = join(import.meta.dirname, '../../scripts/postgres.js');

// Each takes a second or two on an idle machine.
jest.setTimeout(120_000);

let parent: string;
let folder: string;
let unused: string;

beforeAll(async () => {
  unused = join(makeOpenFolder(), 'postgres');
  const launched = launch([process.execPath, SCRIPT, unused]);
  await urlOf(launched);
  await stop(launched);
});

beforeEach(() => {
  parent = makeOpenFolder();
  folder = join(parent, 'postgres');
});

afterEach(async () => {
  await endAll();
  rmSync(parent, { recursive: true });
});

afterAll(() => rmSync(dirname(unused), { recursive: true }));

/** Open to others, so that also the account that runs the server for root can use it. */
function makeOpenFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'launcher-'));
  chmodSync(path, 0o755);
  return path;
}

/** Saves the second that initdb takes. */
function copyUnusedCluster(): void {
  execFileSync('cp', ['-a', unused, folder]);
}

const start = (...args: string[]): Launched => launch([process.execPath, SCRIPT, ...args, folder]);
const urlOf = (launched: Launched): Promise<string> => launched.printed(/(postgres:\S+)/);

async function stop({ pid, ended }: Launched, signal: NodeJS.Signals = 'SIGTERM'): Promise<number | string> {
  process.kill(pid, signal);
  return ended;
}

async function kill(launched: Launched): Promise<void> {
  expect(await stop(launched, 'SIGKILL')).toBe('SIGKILL');
}

async function query<Row extends object>(url: string, sql: string): Promise<Row | undefined> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows[0];
  } finally {
    await client.end();
  }
}

const serverPid = (): number => Number(readFileSync(join(folder, 'data/postmaster.pid'), 'utf8').split('\n')[0]);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** pg_ctl calls a server stopped when it has removed postmaster.pid, just before its process ends. */
async function hasEnded(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(5);
}

describe('a stopped server', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)(
    'is down when %s has ended its launcher, with exit code 0',
    async (signal) => {
      copyUnusedCluster();
      const launched = start();
      await urlOf(launched);
      const pid = serverPid();
      expect(isAlive(pid)).toBe(true);
      expect(await stop(launched, signal)).toBe(0);
      await hasEnded(pid);
    },
  );

  it('finds its data again under the same URL, also below a folder that is closed to others', async () => {
    chmodSync(parent, 0o700);
    const first = start();
    const url = await urlOf(first);
    const used = await first.printed(/data in (\S+)\)/);
    try {
      await query(url, 'CREATE TABLE payments AS SELECT 42 AS amount');
      await stop(first);
      const second = start();
      expect(await urlOf(second)).toBe(url);
      expect(await query(url, 'SELECT amount FROM payments')).toEqual({ amount: 42 });
      await stop(second);
    } finally {
      if (used !== folder) rmSync(dirname(used), { recursive: true });
    }
  });
});

describe('a started server', () => {
  it('speaks UTF-8, sorts by bytes, takes 200 connections, is durable, and asks for its password', async () => {
    copyUnusedCluster();
    const launched = start();
    const url = new URL(await urlOf(launched));
    const settings = await query(
      url.href,
      `SELECT current_setting('server_encoding') AS encoding, datcollate AS collation,
              current_setting('max_connections') AS connections, current_setting('fsync') AS fsync
         FROM pg_database WHERE datname = current_database()`,
    );
    expect(settings).toEqual({ encoding: 'UTF8', collation: 'C', connections: '200', fsync: 'on' });
    url.password = 'guessed';
    await expect(query(url.href, 'SELECT')).rejects.toMatchObject({ code: '28P01' });
    await stop(launched);
  });
});

describe('after a launcher was killed', () => {
  it('the next one takes over its server', async () => {
    copyUnusedCluster();
    const first = start();
    const url = await urlOf(first);
    const pid = serverPid();
    await kill(first);
    const second = start();
    expect(await urlOf(second)).toBe(url);
    expect(serverPid()).toBe(pid);
    await stop(second);
    await hasEnded(pid);
  });

  it('in the middle of initdb, the next one makes a whole cluster', async () => {
    const first = start();
    while (!readdirSync(parent).some((name) => existsSync(join(parent, name, 'data/base')))) await delay(5);
    process.kill(-first.pid, 'SIGKILL');
    await first.ended;
    expect(existsSync(folder)).toBe(false);
    const second = start();
    expect(await query(await urlOf(second), 'SELECT 1 AS one')).toEqual({ one: 1 });
    await stop(second);
  });

  it('and its server too, a postmaster.pid that names another process by now is not believed', async () => {
    copyUnusedCluster();
    const first = start();
    await urlOf(first);
    const pid = serverPid();
    await kill(first);
    process.kill(pid, 'SIGKILL');
    await hasEnded(pid);

    const { uid, gid } = statSync(folder);
    const stranger = spawn('sleep', ['60'], { uid, gid });
    const pidFile = join(folder, 'data/postmaster.pid');
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(String(pid), String(stranger.pid)));

    const second = start();
    expect(await query(await urlOf(second), 'SELECT 1 AS one')).toEqual({ one: 1 });
    expect(serverPid()).not.toBe(stranger.pid);
    await stop(second);
    expect(stranger.exitCode).toBeNull();
    stranger.kill();
    await once(stranger, 'exit');
  });
});

describe('several launchers of one cluster', () => {
  it('make one server, which the last of them stops', async () => {
    const launchers = [start(), start(), start()];
    const urls = await Promise.all(launchers.map(urlOf));
    expect(new Set(urls).size).toBe(1);
    const pid = serverPid();
    const [first, ...others] = launchers;
    expect(await stop(first!)).toBe(0);
    expect(isAlive(pid)).toBe(true);
    expect(await Promise.all(others.map((launched) => stop(launched)))).toEqual([0, 0]);
    await hasEnded(pid);
    expect(readdirSync(parent)).toEqual(['postgres']);
  });

  it('get a server each time, also while another one is stopping it', async () => {
    copyUnusedCluster();
    const first = start();
    await urlOf(first);
    const second = start();
    expect(await stop(first)).toBe(0);
    expect(await query(await urlOf(second), 'SELECT 1 AS one')).toEqual({ one: 1 });
    await stop(second);
  });
});

describe('a cluster that does not start', () => {
  const damage = (): void => {
    copyUnusedCluster();
    rmSync(join(folder, 'data/global/pg_control'));
  };

  it('is left alone when it is durable, with the log of the server and what to do', async () => {
    damage();
    const launched = start();
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toMatch(/pg_control[^]*remove the folder; else set DATABASE_URL/);
    expect(existsSync(join(folder, 'data'))).toBe(true);
  });

  it('is made anew when it is a throwaway', async () => {
    damage();
    const launched = start('--throwaway');
    expect(await query(await urlOf(launched), 'SHOW fsync')).toEqual({ fsync: 'off' });
    await stop(launched);
  });
});

describe('a platform without an embedded server', () => {
  it('is told to set DATABASE_URL, and how docker compose gives one', async () => {
    const otherPlatform = `data:text/javascript,Object.defineProperty(process, 'arch', { value: 'mips' })`;
    const launched = launch([process.execPath, '--import', otherPlatform, SCRIPT, folder]);
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toMatch(/docker compose up -d --wait\n.*DATABASE_URL=postgres:/);
  });
});
