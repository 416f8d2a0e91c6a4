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
import { obey } from '../../processes/stoppable-statements.mjs';

register('../../situations/payments/typescript.mjs', import.meta.url);

const { startConsumer } = await import('./consumer-app.ts');
const { load } = await import('./transports.ts');
await load(process.argv[2]);
let consumer;

process.on('message', (message) => {
  obey(message);
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
