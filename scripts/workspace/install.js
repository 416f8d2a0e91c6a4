import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../foreground/refusal.js';
import { npm } from './npm.js';
import { root } from './root.js';

/** Installs what package-lock.json asks for and node_modules does not have. Imports nothing that must be installed. */
export async function installMissing(interruption) {
  await refuseOldNode();
  if (await isInstalled()) return;
  console.log('Installing the dependencies (npm ci) …');
  // --include: also where NODE_ENV or the npm configuration of the machine leaves development packages out.
  await npm(['ci', '--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error'], {
    interruption,
    remedy: 'The first run needs the network; later ones do not.',
  });
}

async function refuseOldNode() {
  const { engines } = await readJson('package.json');
  const oldest = engines.node.replace('>=', '');
  const isOld = process.versions.node.localeCompare(oldest, 'en', { numeric: true }) < 0;
  if (isOld) throw new Refusal(`This is Node ${process.versions.node}; the project needs Node ${oldest} or newer.`);
}

/** npm writes node_modules/.package-lock.json last, so an install that was cut short does not have it. */
async function isInstalled() {
  const wanted = await readJson('package-lock.json');
  const present = await readJson('node_modules/.package-lock.json').catch(() => ({ packages: {} }));
  return Object.entries(wanted.packages)
    .filter(([path, { optional, devOptional }]) => path.includes('node_modules/') && !optional && !devOptional)
    .every(([path, { version, link }]) => link || present.packages[path]?.version === version);
}

async function readJson(path) {
  return JSON.parse(await readFile(join(root, path), 'utf8'));
}
