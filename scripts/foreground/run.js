import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { exitCodeOf } from './interruption.js';

const GRACE_MS = 30_000;

/**
 * Runs a command on this terminal and waits for its end, also when interrupted: the child is then asked to stop
 * and given 30 seconds. `exitCode` is what a shell would report, `signal` the signal that ended the child, or null.
 */
export async function run(command, args, { interruption, ...options }) {
  interruption.throwIfAborted();
  const child = spawn(command, args, { stdio: 'inherit', ...options });
  let deadline;
  const stop = () => {
    // A Windows console hands Ctrl-C to the child itself, and kill() there leaves it no time to finish.
    if (process.platform !== 'win32') child.kill('SIGTERM');
    deadline = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  };
  interruption.addEventListener('abort', stop);
  try {
    const [code, signal] = await once(child, 'exit');
    return { exitCode: code ?? exitCodeOf(signal), signal };
  } finally {
    interruption.removeEventListener('abort', stop);
    clearTimeout(deadline);
  }
}
