import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { PspProcess } from '../psp/process.js';

jest.setTimeout(60_000);

let databases: TestDatabase[];
let psp: PspProcess;
let demo: ChildProcess;
let lines: Line[];

/** The demo and its provider, as they were built, each in a process of its own. */
beforeAll(async () => {
  databases = [await createTestDatabase(), await createTestDatabase()];
  const [ours, theirs] = databases.map(({ url }) => url) as [string, string];
  psp = await PspProcess.start({ DATABASE_URL: theirs });
  demo = spawn(process.execPath, [join(process.cwd(), 'apps/payments/dist/main.js')], {
    env: { ...process.env, DATABASE_URL: ours, PORT: '0', PSP_URL: `http://localhost:${psp.port}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  lines = (await printedLines(demo.stdout!)).map(request);
});

afterAll(async () => {
  demo?.kill('SIGTERM');
  if (demo?.exitCode === null && demo.signalCode === null) await once(demo, 'exit');
  await psp?.end('SIGTERM');
  for (const database of databases ?? []) await database.drop();
});

describe('the lines that the demo prints', () => {
  it('pay once, and are replayed when they are pasted again', async () => {
    const [pay] = lines as [Line];
    const [first, second] = [await pay(), await pay()];
    expect([first.status, first.replayed]).toEqual([201, null]);
    expect([second.status, second.replayed]).toEqual([201, 'true']);
    expect(second.body).toBe(first.body);
    expect(await amountsIn('payments')).toEqual(['4999']);
  });

  it('charge once, also where the provider tells nobody that it has', async () => {
    const [, charge, fail, chargeAgain] = lines as [Line, Line, Line, Line];
    const [first, second] = [await charge(), await charge()];
    expect([first.status, first.replayed]).toEqual([201, null]);
    expect([second.status, second.replayed]).toEqual([201, 'true']);
    expect((await fail()).status).toBe(201);
    expect((await chargeAgain()).status).toBe(409);
    expect((await chargeAgain()).status).toBe(201);

    expect(await amountsIn('charges')).toEqual(['4999', '4999']);
    expect((await psp.get('/book')).json()).toMatchObject({
      totals: [{ currency: 'usd', charges: 2, captured: 9998 }],
    });
  });
});

type Line = () => Promise<{ readonly status: number; readonly replayed: string | null; readonly body: string }>;

/** Those to be pasted, and none that come after them. */
async function printedLines(output: NodeJS.ReadableStream): Promise<string[]> {
  const printed: string[] = [];
  for await (const line of createInterface(output)) {
    if (line.startsWith('curl ')) printed.push(line);
    if (line.startsWith('What the provider has really done')) return printed;
  }
  throw new Error('The demo ended without printing lines to paste.');
}

/** What the shell and curl would make of the line. */
function request(line: string): Line {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);
  const after = (flag: string) => words.flatMap((word, at) => (words[at - 1] === flag ? [word] : []));
  const headers = after('-H').map((header) => header.split(/:\s*/, 2) as [string, string]);
  const [body] = after('-d');
  const url = words.find((word) => word.startsWith('http://'))!;
  return async () => {
    const response = await fetch(url, { method: 'POST', headers, body: body! });
    return {
      status: response.status,
      replayed: response.headers.get('Idempotent-Replayed'),
      body: await response.text(),
    };
  };
}

async function amountsIn(table: 'payments' | 'charges'): Promise<string[]> {
  const client = new Client({ connectionString: databases[0]!.url });
  await client.connect();
  const { rows } = await client.query<{ amount: string }>(`SELECT amount FROM ${table}`);
  await client.end();
  return rows.map(({ amount }) => amount);
}
