import type { INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import type { AppOptions } from './settings/app-options.js';
import { consumeFromRabbitMq } from './settlements/rabbitmq-transport.js';

/** The app on a database that is up to date, not yet listening. Rejects when the database cannot be brought there. */
export async function createApp(options: AppOptions): Promise<INestApplication> {
  const app = await NestFactory.create(AppModule.forRoot(options), {
    abortOnError: false,
    logger: ['warn', 'error', 'fatal'],
    // Webhooks are signed over their bytes.
    rawBody: true,
  });
  consumeFromRabbitMq(app);
  return app;
}
