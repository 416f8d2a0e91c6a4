/*
 * An application in a process of its own, which begins what it is told to and stands inside until it is killed. What it
 * is told comes over the channel to its parent:
 *
 *   { url }                    start; tells { started } then
 *   { consume: message }       handle it; tells { inside: attempts } when its work has written
 *   { run: request }           the same for an operation
 *   { charge: request }        the same for one that makes a step, told as { called: provider key }, before it writes
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';

register('../situations/payments/typescript.mjs', import.meta.url);

const { startServiceApp } = await import('./service-app.ts');
const { pay } = await import('../module/work-app.ts');

const forever = new Promise(() => undefined);

async function stand({ manager, key, attempts }) {
  await pay(manager, key, 'by the dead');
  process.send({ inside: attempts });
  await forever;
}

async function charge(operation) {
  await operation.step('charge', async ({ providerKey }) => {
    process.send({ called: providerKey });
    return { charged: 'by the dead' };
  });
  await operation.commit((manager) => stand({ manager, key: operation.key, attempts: operation.attempts }));
}

let app;
process.on('message', async (told) => {
  if (told.url) {
    app = await startServiceApp({ url: told.url, typeorm: { applicationName: 'doomed' } });
    process.send({ started: true });
  }
  if (told.consume) void app.service.consume(told.consume, stand);
  if (told.run) void app.service.run(told.run, stand);
  if (told.charge) void app.service.run(told.charge, charge);
});
process.send({ loaded: true });
await once(process, 'disconnect');
process.exit();
