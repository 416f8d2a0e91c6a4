/*
 * The application that pays orders in a process of its own, which can be made to wait at any statement that it sends
 * to its database. What it is told comes over the channel to its parent:
 *
 *   { options }                       start; tells { port } then
 *   { stopAt: { statement, when } }   wait before or after the next statement that matches; tells { reached } then
 *   { goOn: true }                    go on
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';
import { obey } from '../../processes/stoppable-statements.mjs';

register('../../situations/payments/typescript.mjs', import.meta.url);

const { startChargingApp } = await import('./app.ts');

process.on('message', (message) => {
  obey(message);
  if (message.options) void startChargingApp(message.options).then(({ port }) => process.send({ port }));
});
process.send({ loaded: true });
await once(process, 'disconnect');
process.exit();
