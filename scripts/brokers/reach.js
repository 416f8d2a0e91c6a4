import { connect } from 'node:net';
import { Refusal } from '../foreground/refusal.js';
import { BROKERS } from './brokers.js';

const PATIENCE_MS = 5_000;

/** Ports by scheme, for URLs that name none. */
const PORTS = {
  'amqp:': 5672,
  'amqps:': 5671,
  'nats:': 4222,
  'tls:': 4222,
  'redis:': 6379,
  'rediss:': 6379,
  'mqtt:': 1883,
  'mqtts:': 8883,
};

/**
 * The variables that name the brokers, all of them set; a Refusal where nobody listens at one of them, with what to do.
 */
export async function reachBrokers() {
  const environment = Object.fromEntries(
    BROKERS.map(({ variable, defaultUrl }) => [variable, process.env[variable] || defaultUrl]),
  );
  const failures = await Promise.all(BROKERS.map((broker) => failureOf(broker, environment[broker.variable])));
  const missing = failures.filter((failure) => failure !== undefined);
  if (missing.length === 0) return environment;
  throw new Refusal(`${missing.join('\n')}

Start what is missing, for example by

  docker compose --profile brokers up -d --wait

or say where it is in the variable that stands beside it, and run the same command again.`);
}

async function failureOf({ name, variable }, url) {
  const { protocol, hostname, port } = new URL(url);
  const address = { host: hostname, port: Number(port) || PORTS[protocol] };
  if (!address.port) return `${variable} names no port, and its scheme, ${protocol}, is not known.`;
  const failure = await connectBriefly(address);
  return failure && `There is no ${name} at ${hostname}:${address.port} (${variable}): ${failure}.`;
}

/** Undefined where somebody listens, else why it is known that nobody does. */
function connectBriefly(address) {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: PATIENCE_MS });
    const end = (failure) => {
      socket.destroy();
      resolve(failure);
    };
    socket.once('connect', () => end());
    socket.once('timeout', () => end('no answer'));
    socket.once('error', (error) => end(error.code ?? error.message));
  });
}
