/*
 * A process whose application runs its migrations as it starts, its own among them. What it is told comes over the channel
 * to its parent, after it has told { loaded }:
 *
 *   { url, way }   start; tells { complaints } when it has started, and dies where it cannot
 *   { close }      stop; tells { closed }
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, idempotencyMigrations, IdempotencyModule, migrateOnce } from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { obey } from '../processes/stoppable-statements.mjs';

/** As applications have them: it cannot be run twice. */
class CreateOrders1700000000000 {
  name = 'CreateOrders1700000000000';
  up = (runner) => runner.query('CREATE TABLE orders (id integer PRIMARY KEY)');
  down = (runner) => runner.query('DROP TABLE orders');
}

let complaints = [];
const note = (message) => complaints.push(String(message));
const logger = { log: () => undefined, warn: () => undefined, error: note, fatal: note };

function typeOrm({ url, way }) {
  const options = {
    type: 'postgres',
    url,
    entities: [...idempotencyEntities],
    migrations: [CreateOrders1700000000000, ...idempotencyMigrations],
    logging: false,
  };
  if (way === 'migrationsRun') return TypeOrmModule.forRoot({ ...options, migrationsRun: true, retryDelay: 200 });
  return TypeOrmModule.forRootAsync({
    useFactory: () => ({ ...options, toRetry: () => false }),
    dataSourceFactory: async () => {
      const dataSource = await new DataSource(options).initialize();
      await migrateOnce(dataSource);
      return dataSource;
    },
  });
}

let app;
process.on('message', async (told) => {
  obey(told);
  if (told.url) {
    complaints = [];
    class Root {}
    Module({ imports: [typeOrm(told), IdempotencyModule.forRoot({ singleTenant: true })] })(Root);
    app = await NestFactory.createApplicationContext(Root, { abortOnError: false, logger });
    process.send({ complaints });
  }
  if (told.close) {
    await app.close();
    process.send({ closed: true });
  }
});
process.send({ loaded: true });
await once(process, 'disconnect');
process.exit();
