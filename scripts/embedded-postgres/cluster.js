import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../foreground/refusal.js';
import { runAs } from './run-as.js';

/**
 * The cluster of a folder, made when it is not there:
 *   data/       what initdb makes
 *   password    of the user `postgres`
 *   server.log  of the running server, or of the last one
 */
export async function openCluster(site) {
  const { folder } = site;
  const data = join(folder, 'data');
  if (!existsSync(data)) await createCluster(site);
  return { folder, data, log: join(folder, 'server.log'), password: await readPassword(folder) };
}

/** Made beside its place and renamed: what was cut short is never taken for a cluster, and of two the first one wins. */
async function createCluster({ folder, account, binaries, durable }) {
  const draft = await mkdtemp(`${folder}.new-`);
  const password = join(draft, 'password');
  try {
    await writeFile(password, randomBytes(16).toString('hex'), { mode: 0o600 });
    if (account.uid !== undefined) {
      for (const path of [draft, password]) await chown(path, account.uid, account.gid);
    }
    const { failure } = runAs(account, binaries.initdb, [
      ...['--pgdata', join(draft, 'data'), '--encoding=UTF8', '--locale=C'],
      ...['--username=postgres', '--auth=scram-sha-256', '--pwfile', password],
      ...(durable ? [] : ['--no-sync']),
    ]);
    if (failure) throw new Refusal(`initdb could not make a database cluster in ${draft}:\n${failure}`);
    await rename(draft, folder);
  } catch (error) {
    if (existsSync(join(folder, 'data'))) return;
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    throw new Refusal(
      `${folder} holds something that is not a database cluster. Remove it, and run the command again.`,
    );
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function readPassword(folder) {
  try {
    return await readFile(join(folder, 'password'), 'utf8');
  } catch (error) {
    throw new Refusal(
      `The database cluster in ${folder} cannot be opened: ${error.message}.\nRun the command as the user who made it, or remove the folder to begin with an empty database.`,
    );
  }
}
