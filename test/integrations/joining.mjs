/*
 * An application whose services manage their transactions by other means than the library's, in a process of its own.
 * What it is told comes over the channel to its parent: { url, means }; it tells { port } then.
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { register } from 'node:module';

register('../situations/payments/typescript.mjs', import.meta.url);
const { startJoiningApp } = await import('./joining-app.ts');

const MEANS = {
  '@nestjs-cls/transactional': async () => (await import('./cls.ts')).cls,
  'typeorm-transactional': async () => (await import('./typeorm-transactional.ts')).typeormTransactional,
};

const [{ url, means }] = await once(process, 'message');
process.send({ port: await startJoiningApp(url, await MEANS[means]()) });

await once(process, 'disconnect');
process.exit();
