import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { Refusal } from '../foreground/refusal.js';
import { isFree } from './probe.js';

const PATIENCE_MS = 5_000;
const RETRY_MS = 100;

/**
 * Waits a little for a port, which an application whose launcher was killed leaves by itself; then refuses, and names the
 * variable that chooses another one.
 */
export async function waitForPort(port, variable, interruption) {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isFree(port))) {
    interruption.throwIfAborted();
    if (Date.now() > deadline) {
      throw new Refusal(
        `Port ${port} is in use${describeHolder(port)}.\nStop what uses it, or choose another one: ${variable}=${Number(port) + 1} npm start`,
      );
    }
    await delay(RETRY_MS);
  }
}

/** By lsof, where there is one; empty otherwise. */
function describeHolder(port) {
  const { stdout } = spawnSync('lsof', ['-nP', '-Fpc', `-iTCP:${port}`, '-sTCP:LISTEN'], { encoding: 'utf8' });
  const [, pid, command] = /^p(\d+)\nc(.+)$/m.exec(stdout ?? '') ?? [];
  return pid === undefined ? '' : ` by ${command} (pid ${pid})`;
}
