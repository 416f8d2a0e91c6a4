/*
 * The application in a process of its own, on the library as it is or as it was. What it is told comes over the channel
 * to its parent: its options; it tells { port } then. SIGTERM shuts it down as a deployment does.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';

const [options] = await Promise.all([
  once(process, 'message').then(([message]) => message),
  process.send({ loaded: true }),
]);
register('./versions.mjs', import.meta.url, { data: options.version });
const { startApp } = await import('./app.ts');
process.send({ port: await startApp(options) });

await once(process, 'disconnect');
process.exit();
