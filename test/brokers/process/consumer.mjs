/*
 * A consumer in a process of its own, which can be made to wait at any statement that it sends to its database. What it
 * is told comes over the channel to its parent:
 *
 *   { options }                       start to consume; tells { consuming } then, and { settled } after each delivery
 *   { stopAt: { statement, when } }   wait before or after the next statement that matches; tells { reached } then
 *   { goOn: true }                    go on
 *   { close: true }                   end in good order
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';
import pg from 'pg';

register('../../situations/payments/typescript.mjs', import.meta.url);

let stop = null;
let goOn = () => undefined;

const sendQuery = pg.Client.prototype.query;
pg.Client.prototype.query = function (...args) {
  const [query] = args;
  const text = typeof query === 'string' ? query : (query?.name ?? query?.text ?? '');
  if (stop === null || !new RegExp(stop.statement).test(text)) return sendQuery.apply(this, args);
  const { when } = stop;
  stop = null;
  return around(when, () => sendQuery.apply(this, args));
};

async function around(when, send) {
  if (when === 'before') {
    await stand();
    return send();
  }
  const answer = await send();
  await stand();
  return answer;
}

function stand() {
  const opened = new Promise((resolve) => (goOn = resolve));
  process.send({ reached: true });
  return opened;
}

const { startConsumer } = await import('./consumer-app.ts');
const { load } = await import('./transports.ts');
await load(process.argv[2]);
let consumer;

process.on('message', (message) => {
  if (message.stopAt) {
    stop = message.stopAt;
    process.send({ armed: true });
  }
  if (message.goOn) goOn();
  if (message.options) void start(message.options);
  if (message.close) void consumer.close().then(() => process.exit());
});

async function start(options) {
  consumer = await startConsumer(options, (settled) => process.send({ settled }));
  process.send({ consuming: true });
}

process.send({ loaded: true });
await once(process, 'disconnect');
process.exit();
