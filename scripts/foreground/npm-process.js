import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * A question to ask again and again: is the npm that started this process still there? npm runs a script through
 * a shell; ended by SIGTERM it ends the shell only, ended by SIGKILL not even that. Without npm: always true.
 */
export function watchNpm() {
  if (!process.env.npm_lifecycle_event) return () => true;
  const parent = process.ppid;
  const { command, ppid } = describe(parent);
  const npm = /^[a-z]*sh$/.test(command) ? ppid : parent;
  return () => process.ppid === parent && isAlive(npm);
}

function describe(pid) {
  const [, command, ppid] = process.platform === 'linux' ? describeByProc(pid) : describeByPs(pid);
  return { command, ppid: Number(ppid) };
}

const describeByProc = (pid) => /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];

function describeByPs(pid) {
  const { stdout } = spawnSync('ps', ['-o', 'comm=,ppid=', '-p', String(pid)], { encoding: 'utf8' });
  return /(?:.*\/)?(.*\S)\s+(\d+)/.exec(stdout ?? '') ?? [];
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
