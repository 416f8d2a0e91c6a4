import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Beyond what a measurement is meant to last. */
const PATIENCE_MS = 60_000;

/** Starts one of the apps in a process of its own: `port` is where it listens, `cpuMs` what it has used so far. */
export async function startServer(app, databaseUrl, { profileFolder }, interruption) {
  const profile = profileFolder
    ? ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`, `--cpu-prof-name=${app}.cpuprofile`]
    : [];
  const env = { ...process.env, NODE_ENV: 'production', DATABASE_URL: databaseUrl };
  const server = start('server.js', [app], { env, execArgv: profile, signal: interruption });
  const { port } = await answerOf(server, PATIENCE_MS);
  const cpuMs = async () => {
    server.send('cpu');
    const { cpu } = await answerOf(server, PATIENCE_MS);
    return (cpu.user + cpu.system) / 1_000;
  };
  return { port, cpuMs, stop: () => stop(server) };
}

/** Starts the process that makes the requests; `ask` has it do one measurement. */
export async function startLoad(interruption) {
  const load = start('load.js', [], { signal: interruption });
  const ask = (measurement) => {
    load.send(measurement);
    return answerOf(load, measurement.milliseconds + PATIENCE_MS);
  };
  return { ask, stop: () => stop(load) };
}

function start(file, args, options) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { ...options, serialization: 'advanced' });
  // The end of an interrupted child is reported by whoever waits for its answer.
  child.on('error', () => {});
  return child;
}

/** The child's next message; rejects when it ends, fails or keeps still instead. */
async function answerOf(child, patienceMs) {
  const given = new AbortController();
  const { signal } = given;
  const ended = once(child, 'exit', { signal }).then(([code, by]) => {
    throw new Error(`${child.spawnargs.slice(1).join(' ')} ended by itself (${by ?? code}).`);
  });
  const late = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
  try {
    const [answer] = await Promise.race([once(child, 'message', { signal: late }), ended]);
    if (answer.failure) throw new Error(answer.failure);
    return answer;
  } finally {
    ended.catch(() => {});
    given.abort();
  }
}

/** A child ends by itself when its channel closes. */
async function stop(child) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  if (child.connected) child.disconnect();
  await ended;
}
