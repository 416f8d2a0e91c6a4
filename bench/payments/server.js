import 'reflect-metadata';
import { once } from 'node:events';
import { createApp } from '../../apps/payments/dist/app.js';
import { createBareApp } from './bare-app.js';
import { createTransactionApp } from './transaction-app.js';

/* One of the apps: tells its parent the port, and the CPU it has used when asked; closes when the parent has gone. */
const create = { bare: createBareApp, lease: createApp, transaction: createTransactionApp }[process.argv[2]];
const app = await create({ databaseUrl: process.env.DATABASE_URL });
await app.listen(0, '127.0.0.1');
process.on('message', () => process.send({ cpu: process.cpuUsage() }));
process.send({ port: app.getHttpServer().address().port });
if (process.connected) await once(process, 'disconnect');
app.getHttpServer().closeAllConnections();
await app.close();
