import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const RETRY_MS = 50;

/** Waits until somebody listens on a port of this machine; rejects when `signal` is aborted. */
export async function untilListening(port, signal) {
  while (!(await accepts(port))) await delay(RETRY_MS, undefined, { signal });
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: 'localhost' });
    const end = (isAccepted) => () => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
}
