import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { parseArgs } from 'node:util';
import type { INestApplication } from '@nestjs/common';
import { createApp } from './app.js';
import { readEnvironment } from './environment.js';
import { greeting } from './greeting.js';
import { serveMetrics } from './metrics/serve-metrics.js';
import { USAGE } from './usage.js';

async function start(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help) {
    console.log(USAGE);
    return;
  }
  const { port, metricsPort, ...options } = readEnvironment(process.env);
  await assertFree(port);
  if (metricsPort !== undefined) await serveMetrics(metricsPort);
  const app = await createApp(options);
  app.enableShutdownHooks();
  await app.listen(port);
  const address = (app.getHttpServer() as Server).address() as AddressInfo;
  console.log(greeting(`http://localhost:${address.port}`, options));
  await stopWithLauncher(app);
}

/** A taken port is found out before the database is touched. */
async function assertFree(port: number): Promise<void> {
  const probe = createServer().listen(port);
  await once(probe, 'listening');
  probe.close();
  await once(probe, 'close');
}

/** A launcher that was killed can no longer send a signal, but its end of the channel closes all the same. */
async function stopWithLauncher(app: INestApplication): Promise<void> {
  if (!process.send) return;
  if (process.connected) await once(process, 'disconnect');
  await app.close();
}

function explain(error: unknown): string {
  const { code, port, message } = error as NodeJS.ErrnoException & { port?: number };
  const variable = String(port) === process.env.METRICS_PORT ? 'METRICS_PORT' : 'PORT';
  if (code === 'EADDRINUSE') return `port ${port} is in use. Set ${variable} to a free one.`;
  // Several addresses of one host that all refuse are an error with a code and no message.
  return message || code || String(error);
}

try {
  await start();
} catch (error) {
  console.error(`Payments did not start: ${explain(error)}`);
  process.exit(1);
}
