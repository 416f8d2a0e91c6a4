import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { useOwnServer } from './unavailable.js';

const SHELTER = '/var/lib/nestjs-idempotency';

/**
 * PostgreSQL refuses to run as root, so root lends it to the owner of the cluster or, for a new one, to `nobody`.
 * A folder that this account cannot reach is replaced by one under /var/lib, the same at every run.
 * `account` is `{ uid, gid }`, or empty: whoever runs this.
 */
export async function placeFor(folder) {
  await mkdir(dirname(folder), { recursive: true });
  if (process.getuid?.() !== 0) return { folder, account: {} };
  const account = (await ownerOf(folder)) ?? nobody();
  if (canEnter(dirname(folder), account)) return { folder, account };
  return { folder: join(await shelterFor(dirname(folder)), basename(folder)), account: nobody() };
}

async function ownerOf(folder) {
  const { uid, gid } = await stat(folder).catch(() => ({ uid: 0 }));
  return uid === 0 ? undefined : { uid, gid };
}

/** Asked by name: initdb wants an account that the system knows, and its number differs between systems. */
function nobody() {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  if (uid.status !== 0 || gid.status !== 0) {
    throw useOwnServer('PostgreSQL does not run as root, and there is no account `nobody` to run it.');
  }
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

function canEnter(folder, account) {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { ...account, cwd: '/' }).status === 0;
}

async function shelterFor(folder) {
  const shelter = join(SHELTER, createHash('sha256').update(folder).digest('hex').slice(0, 12));
  try {
    await mkdir(shelter, { recursive: true });
    // The umask may have closed them.
    for (const path of [SHELTER, shelter]) await chmod(path, 0o755);
  } catch (error) {
    throw useOwnServer(
      `The account that runs PostgreSQL can neither enter ${folder} nor use ${SHELTER}: ${error.message}.`,
    );
  }
  return shelter;
}
