import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Launched, endAll, launch } from './launch.js';
import { makeProject } from './stand-in/project.js';

// Each takes a second or two on an idle machine.
jest.setTimeout(120_000);

let project: string;
let port: number;
let pspPort: number;
let metricsPort: number;

beforeAll(async () => {
  project = makeProject();
  const servers = await Promise.all([listeningOn(0), listeningOn(0), listeningOn(0)]);
  const found = servers.map((server) => (server.address() as AddressInfo).port);
  [port, pspPort, metricsPort] = found as [number, number, number];
  await Promise.all(servers.map(closed));
});

async function listeningOn(at: number): Promise<Server> {
  const server = createServer().listen(at);
  await once(server, 'listening');
  return server;
}

const closed = (server: Server): Promise<unknown> => new Promise((resolve) => server.close(resolve));

afterEach(endAll);

afterAll(() => rmSync(project, { recursive: true }));

const ports = () => ({ PORT: String(port), PSP_PORT: String(pspPort) });

const start = (environment: NodeJS.ProcessEnv = {}): Launched =>
  launch([process.execPath, join(project, 'scripts/start.js')], { ...ports(), ...environment });

/** Where nobody listens: for what does not depend on the server. */
const ELSEWHERE = 'postgres://127.0.0.1:1/elsewhere';
const WITHOUT_SERVER = { DATABASE_URL: ELSEWHERE, PSP_DATABASE_URL: `${ELSEWHERE}_too` };

const LISTENING = /demo listening with (postgres:\S+)/;

/** In this order: the demo may be talking to its provider as long as it lives, and both to the database. */
const CLOSED = /demo closed while the database was there[^]*provider closed while the database was there/;

describe('npm start', () => {
  it('builds when a source has changed, and only then', async () => {
    const outputs: string[] = [];
    for (const change of [() => {}, () => {}, () => writeFileSync(join(project, 'libs/new.ts'), '')]) {
      change();
      const launched = start({ DEMO_EXIT_CODE: '0', ...WITHOUT_SERVER });
      expect(await launched.ended).toBe(0);
      outputs.push(launched.output());
    }
    expect(outputs.map((output) => output.includes('compiled'))).toEqual([true, false, true]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s ends the application, its provider, then PostgreSQL, with exit code 0',
    async (signal) => {
      const launched = start();
      await launched.printed(LISTENING);
      process.kill(launched.pid, signal);
      expect(await launched.ended).toBe(0);
      expect(launched.output()).toMatch(CLOSED);
    },
  );

  it("on a terminal's Ctrl-C, which reaches every process, does the same", async () => {
    const launched = start();
    await launched.printed(LISTENING);
    process.kill(-launched.pid, 'SIGINT');
    expect(await launched.ended).toBe(0);
    for (const name of ['demo', 'provider']) {
      expect(launched.output()).toContain(`${name} closed while the database was there`);
    }
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('does the same when %s has ended npm', async (signal) => {
    const launched = launch(['npm', '--prefix', project, 'start'], ports());
    await launched.printed(LISTENING);
    process.kill(launched.pid, signal);
    expect(await launched.ended).toBe(signal);
    expect(launched.output()).toMatch(CLOSED);
    expect(existsSync(join(project, '.local/postgres/data/postmaster.pid'))).toBe(false);
  });

  it('comes back on the same port and database after it was killed', async () => {
    const first = start();
    const url = await first.printed(LISTENING);
    process.kill(first.pid, 'SIGKILL');
    const second = start();
    expect(await second.printed(LISTENING)).toBe(url);
    process.kill(second.pid, 'SIGTERM');
    expect(await second.ended).toBe(0);
  });

  it('gives the provider a database of its own beside that of the demo', async () => {
    const launched = start();
    const url = await launched.printed(LISTENING);
    expect(await launched.printed(/provider listening with (postgres:\S+)/)).toBe(`${url}_psp`);
    process.kill(launched.pid, 'SIGTERM');
    expect(await launched.ended).toBe(0);
  });

  it.each([
    ['PORT', () => port],
    ['PSP_PORT', () => pspPort],
    ['METRICS_PORT', () => metricsPort],
  ])('says who uses %s, and how to choose another one', async (variable, portOf) => {
    const server = await listeningOn(portOf());
    const launched = start({ [variable]: String(portOf()) });
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toMatch(
      new RegExp(`Port ${portOf()} is in use[^]*one: ${variable}=${portOf() + 1} npm start`),
    );
    await closed(server);
  });

  it.each(['DEMO_EXIT_CODE', 'PROVIDER_EXIT_CODE'])(
    'ends both with the exit code of the one that failed: %s',
    async (name) => {
      expect(await start({ [name]: '7', ...WITHOUT_SERVER }).ended).toBe(7);
    },
  );

  it('says how to give the provider a database where it cannot make one', async () => {
    const launched = start({ DATABASE_URL: ELSEWHERE });
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toContain('name it in PSP_DATABASE_URL');
  });

  it('starts no PostgreSQL where DATABASE_URL names one', async () => {
    const launched = start(WITHOUT_SERVER);
    expect(await launched.printed(LISTENING)).toBe(ELSEWHERE);
    expect(launched.output()).not.toContain('Starting PostgreSQL');
    process.kill(-launched.pid, 'SIGKILL');
    await launched.ended;
  });
});
