import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const BEING_WRITTEN_MS = 1_000;

/** The port of the server that wrote postmaster.pid, which may be gone by now; undefined without such a file. */
export function portInUse(data) {
  return Number(readLines(data, 'postmaster.pid')[3]) || undefined;
}

/** The port of the last start; undefined before the first. */
export function lastPort(data) {
  const [, port] = /"-p" "(\d+)"/.exec(readLines(data, 'postmaster.opts').join()) ?? [];
  return port === undefined ? undefined : Number(port);
}

/** The pid in postmaster.pid, if that process really is a server on this data folder. */
export function runningPid(data) {
  const pid = Number(readLines(data, 'postmaster.pid')[0]);
  return pid > 0 && isServerOn(data, pid) ? pid : undefined;
}

/**
 * Removes the postmaster.pid of a server that died without removing it. PostgreSQL does so by itself, except when
 * the pid belongs to another process of the same user by now, or when the file is empty. Should a server start at
 * this very moment, PostgreSQL's second guard, the shared memory of the data folder, still keeps another one out.
 */
export function removeStalePid(data) {
  const path = join(data, 'postmaster.pid');
  const file = statSync(path, { throwIfNoEntry: false });
  if (!file || runningPid(data) !== undefined) return;
  const isBeingWritten = file.size === 0 && Date.now() - file.mtimeMs < BEING_WRITTEN_MS;
  if (!isBeingWritten) rmSync(path, { force: true });
}

function isServerOn(data, pid) {
  if (process.platform === 'win32') return taskList(pid).includes('postgres');
  const command = process.platform === 'linux' ? procCommand(pid) : psCommand(pid);
  return command.includes('postgres') && command.includes(data);
}

const procCommand = (pid) => readText(`/proc/${pid}/cmdline`);
const psCommand = (pid) =>
  spawnSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
const taskList = (pid) => spawnSync('tasklist', ['/FI', `PID eq ${pid}`], { encoding: 'utf8' }).stdout ?? '';

const readLines = (data, file) => readText(join(data, file)).split('\n');

function readText(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}
