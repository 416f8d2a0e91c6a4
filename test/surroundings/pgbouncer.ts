import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

/** A pooler of this test's own, in transaction mode. */
export interface PgBouncer {
  /** The URL of the same database behind it. */
  readonly url: string;
  stop(): Promise<void>;
}

export interface PgBouncerOptions {
  readonly databaseUrl: string;
  /** How many connections to the server all of its clients share. */
  readonly poolSize: number;
  /** Whether it cleans up a connection after every transaction. */
  readonly resets: boolean;
}

const env = { ...process.env, PATH: [process.env.PATH, '/usr/sbin', '/sbin'].join(delimiter) };

/** Whether the program is there. */
export function hasPgBouncer(): boolean {
  return spawnSync('pgbouncer', ['--version'], { env }).status === 0;
}

/** Starts it on a port of its own; rejects with what it said where it does not start. */
export async function startPgBouncer({ databaseUrl, poolSize, resets }: PgBouncerOptions): Promise<PgBouncer> {
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const server = new URL(databaseUrl);
  const port = await freePort();
  const target = {
    host: server.hostname,
    port: server.port || '5432',
    user: decodeURIComponent(server.username),
    password: decodeURIComponent(server.password),
  };
  const connection = Object.entries(target).flatMap(([name, value]) => (value ? [`${name}='${quoted(value)}'`] : []));
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = ${connection.join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
server_reset_query_always = ${resets ? 1 : 0}
ignore_startup_parameters = extra_float_digits
`,
  );
  // It does not run as root, and has to read its configuration as whom it becomes.
  const isRoot = process.getuid?.() === 0;
  if (isRoot) await chmod(folder, 0o755);
  const child = spawn('pgbouncer', [...(isRoot ? ['-u', 'nobody'] : []), file], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await started(child);
  const url = new URL(databaseUrl);
  [url.hostname, url.port] = ['127.0.0.1', String(port)];
  return {
    url: url.href,
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Resolves once it says that it is up. */
async function started(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr!.on('data', (text) => {
      said += text;
      if (said.includes('process up')) resolve();
    });
    child.on('error', reject);
    child.on('exit', () => reject(new Error(`PgBouncer did not start. ${said}`)));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function quoted(value: string): string {
  return value.replaceAll("'", "''");
}
