import { readFile, rm, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../foreground/refusal.js';
import { freePort, isFree } from '../ports/probe.js';
import { placeFor } from './account.js';
import { findBinaries } from './binaries.js';
import { openCluster } from './cluster.js';
import { isLastUser, takeLease } from './lease.js';
import { lastPort, portInUse, removeStalePid, runningPid } from './postmaster.js';
import { runAs } from './run-as.js';

const PATIENCE_MS = 60_000;
const RETRY_MS = 100;
const START_TRIES = 3;

/**
 * Starts the PostgreSQL of the npm packages on a cluster in `folder`, or joins the server that runs there already,
 * be it another launcher's or one whose launcher was killed. Any number of launchers may do so at the same time.
 *
 * `durable: false` trades safety against a crash of the machine for speed; such a cluster is made anew when it does
 * not start. `stop()` stops the server unless another launcher uses it. `folder` in the result is where the cluster
 * is, which differs from the one asked for when the account that runs the server cannot reach that.
 */
export async function startPostgres({ folder, durable }) {
  const place = await placeFor(folder);
  const binaries = await findBinaries(place.account, dirname(place.folder));
  const site = { ...place, binaries, durable };
  const { cluster, url, connection } = await joinServer(site).catch(async (error) => {
    if (durable || !(error instanceof StartFailure)) throw error;
    await rm(place.folder, { recursive: true, force: true });
    return joinServer(site);
  });
  return { url, folder: place.folder, stop: () => leaveServer(site, cluster, connection) };
}

class StartFailure extends Refusal {}

async function joinServer(site) {
  const cluster = await openCluster(site);
  const deadline = Date.now() + PATIENCE_MS;
  for (let failedStarts = 0; ; await delay(RETRY_MS)) {
    const port = portInUse(cluster.data);
    const url = `postgres://postgres:${cluster.password}@127.0.0.1:${port}/postgres`;
    const { connection, failure } = port === undefined ? {} : await takeLease(url);
    if (connection) return { cluster, url, connection };

    const pid = runningPid(cluster.data);
    if (pid === undefined) {
      const started = await startServer(site, cluster);
      if (started.failure && ++failedStarts === START_TRIES) throw await explainStart(cluster, started.failure);
    } else if (Date.now() > deadline) {
      throw new Refusal(
        `A PostgreSQL server (pid ${pid}) runs on ${cluster.data} but gives no connection: ${failure?.message}.\nStop it by \`kill ${pid}\`, and run the command again.`,
      );
    }
  }
}

async function startServer({ account, binaries, durable }, { data, log }) {
  removeStalePid(data);
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 200,
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  const options = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  options.push(`-p ${await choosePort(data)}`);
  await truncate(log).catch(() => {});
  // The server inherits pg_ctl's pipes on Windows: reading them would wait for the server's end.
  return runAs(account, binaries.pgCtl, ['start', '-w', '-D', data, '-l', log, '-o', options.join(' ')], {
    stdio: 'ignore',
  });
}

/** The port of the last start where it is still free, so that a saved connection goes on working. */
async function choosePort(data) {
  const last = lastPort(data);
  return last !== undefined && (await isFree(last, '127.0.0.1')) ? last : freePort();
}

async function explainStart({ folder, log }, failure) {
  const lines = await readFile(log, 'utf8').catch(() => '');
  return new StartFailure(
    `PostgreSQL does not start on ${folder} (pg_ctl: ${failure}). Its log says:\n\n${lines}\nIf its data may go, remove the folder; else set DATABASE_URL to use another server.`,
  );
}

async function leaveServer({ account, binaries }, { data }, connection) {
  // A lease that is lost, because the server went down, cannot be asked.
  const isLast = await isLastUser(connection).catch(() => true);
  if (isLast) {
    const { failure } = runAs(account, binaries.pgCtl, ['stop', '-w', '-m', 'fast', '-D', data]);
    const pid = runningPid(data);
    if (pid !== undefined) throw new Refusal(`PostgreSQL (pid ${pid}) does not stop: ${failure}`);
  }
  await connection.end();
}
