/*
 * The payments of the demo in a process of its own, with a short lease, that can be made to wait at any statement it
 * sends to its database. What it is told comes over the channel to its parent:
 *
 *   { stopAt: { statement, when } }   wait before or after the next statement that matches; tells { reached } then
 *   { goOn: true }                    go on
 *   { leaseMs, databaseUrl }          start; tells { port } then
 */
import 'reflect-metadata';
import { once } from 'node:events';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { IdempotencyModule } from 'nestjs-idempotency';
import { DatabaseModule } from '../../apps/payments/dist/database/database.module.js';
import { merchantOf } from '../../apps/payments/dist/merchants/current-merchant.decorator.js';
import { PaymentsModule } from '../../apps/payments/dist/payments/payments.module.js';
import { ProblemsModule } from '../../apps/payments/dist/problems/problems.module.js';
import { obey } from './stoppable-statements.mjs';

async function start({ databaseUrl, leaseMs }) {
  class Payments {}
  Module({
    imports: [
      DatabaseModule.forRoot(databaseUrl),
      IdempotencyModule.forRoot({ tenant: (context) => merchantOf(context)?.id, leaseMs }),
      ProblemsModule,
      PaymentsModule,
    ],
  })(Payments);
  const app = await NestFactory.create(Payments, { abortOnError: false, logger: ['error', 'fatal'] });
  await app.listen(0, '127.0.0.1');
  process.send({ port: app.getHttpServer().address().port });
}

process.on('message', (message) => {
  obey(message);
  if (message.databaseUrl) void start(message);
});
await once(process, 'disconnect');
process.exit();
