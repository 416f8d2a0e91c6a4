import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
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

beforeAll(async () => {
  project = makeProject();
  const server = createServer().listen(0);
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  await new Promise((resolve) => server.close(resolve));
});

afterEach(endAll);

afterAll(() => rmSync(project, { recursive: true }));

const start = (environment: NodeJS.ProcessEnv = {}): Launched =>
  launch([process.execPath, join(project, 'scripts/start.js')], { PORT: String(port), ...environment });

/** Where nobody listens: for what does not depend on the server. */
const ELSEWHERE = 'postgres://127.0.0.1:1/elsewhere';

const LISTENING = /listening with (postgres:\S+)/;

describe('npm start', () => {
  it('builds when a source has changed, and only then', async () => {
    const outputs: string[] = [];
    for (const change of [() => {}, () => {}, () => writeFileSync(join(project, 'libs/new.ts'), '')]) {
      change();
      const launched = start({ EXIT_CODE: '0', DATABASE_URL: ELSEWHERE });
      expect(await launched.ended).toBe(0);
      outputs.push(launched.output());
    }
    expect(outputs.map((output) => output.includes('compiled'))).toEqual([true, false, true]);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'on %s ends the application, then PostgreSQL, with exit code 0',
    async (signal) => {
      const launched = start();
      await launched.printed(LISTENING);
      process.kill(launched.pid, signal);
      expect(await launched.ended).toBe(0);
      expect(launched.output()).toContain('closed while the database was there');
    },
  );

  it("on a terminal's Ctrl-C, which reaches every process, does the same", async () => {
    const launched = start();
    await launched.printed(LISTENING);
    process.kill(-launched.pid, 'SIGINT');
    expect(await launched.ended).toBe(0);
    expect(launched.output()).toContain('closed while the database was there');
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('does the same when %s has ended npm', async (signal) => {
    const launched = launch(['npm', '--prefix', project, 'start'], { PORT: String(port) });
    await launched.printed(LISTENING);
    process.kill(launched.pid, signal);
    expect(await launched.ended).toBe(signal);
    expect(launched.output()).toContain('closed while the database was there');
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

  it('says who uses its port, and how to choose another one', async () => {
    const server = createServer().listen(port);
    await once(server, 'listening');
    const launched = start();
    expect(await launched.ended).toBe(1);
    expect(launched.output()).toMatch(new RegExp(`Port ${port} is in use[^]*PORT=${port + 1} npm start`));
    await new Promise((resolve) => server.close(resolve));
  });

  it('ends with the exit code of an application that failed', async () => {
    expect(await start({ EXIT_CODE: '7', DATABASE_URL: ELSEWHERE }).ended).toBe(7);
  });

  it('starts no PostgreSQL where DATABASE_URL names one', async () => {
    const launched = start({ DATABASE_URL: ELSEWHERE });
    expect(await launched.printed(LISTENING)).toBe(ELSEWHERE);
    expect(launched.output()).not.toContain('Starting PostgreSQL');
    process.kill(-launched.pid, 'SIGKILL');
    await launched.ended;
  });
});
