import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';

jest.setTimeout(60_000);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database?.drop());

describe('the line that the demo prints', () => {
  it('pays once and is replayed when it is pasted twice', async () => {
    const demo = spawn(process.execPath, [join(process.cwd(), 'apps/payments/dist/main.js')], {
      env: { ...process.env, DATABASE_URL: database.url, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const paste = request(await printedLine(demo.stdout));
      const [first, second] = [await paste(), await paste()];
      expect([first.status, first.replayed]).toEqual([201, null]);
      expect([second.status, second.replayed]).toEqual([201, 'true']);
      expect(second.body).toBe(first.body);
      expect(await paymentsIn(database)).toEqual([{ amount: '4999' }]);
    } finally {
      demo.kill('SIGTERM');
      if (demo.exitCode === null) await once(demo, 'exit');
    }
  });
});

async function printedLine(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) if (line.startsWith('curl ')) return line;
  throw new Error('The demo ended without printing a line to paste.');
}

/** What the shell and curl would make of the line. */
function request(line: string): () => Promise<{ status: number; replayed: string | null; body: string }> {
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

async function paymentsIn({ url }: TestDatabase): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ amount: string }>('SELECT amount FROM payments');
  await client.end();
  return rows;
}
