/*
 * The application of the situations in a process of its own, which dies at its first payment: when everything is
 * written but not committed, or when it is committed but not answered. What it is told comes over the channel to its
 * parent: { dies } and the options of the application; it tells { port } then.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';

register('./typescript.mjs', import.meta.url);
const { startApp } = await import('./app.ts');

const [{ dies, ...options }] = await once(process, 'message');
const { port, cues, context } = await startApp(options);
const die = () => process.kill(process.pid, 'SIGKILL');
cues.at('written', dies === 'before COMMIT' ? die : () => context.afterCommit(die));
process.send({ port });

await once(process, 'disconnect');
process.exit();
