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
import pg from 'pg';
import { DatabaseModule } from '../../apps/payments/dist/database/database.module.js';
import { merchantOf } from '../../apps/payments/dist/merchants/current-merchant.decorator.js';
import { PaymentsModule } from '../../apps/payments/dist/payments/payments.module.js';
import { ProblemsModule } from '../../apps/payments/dist/problems/problems.module.js';

let stop = null;
let goOn = () => undefined;

const sendQuery = pg.Client.prototype.query;
pg.Client.prototype.query = function (...args) {
  const [query] = args;
  const text = typeof query === 'string' ? query : (query?.name ?? query?.text ?? '');
  if (stop === null || !new RegExp(stop.statement).test(text)) return sendQuery.apply(this, args);
  const { when } = stop;
  stop = null;
  return around(when, () => sendQuery.apply(this, args));
};

async function around(when, send) {
  if (when === 'before') {
    await stand();
    return send();
  }
  const answer = await send();
  await stand();
  return answer;
}

function stand() {
  const opened = new Promise((resolve) => (goOn = resolve));
  process.send({ reached: true });
  return opened;
}

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
  if (message.stopAt) {
    stop = message.stopAt;
    process.send({ armed: true });
  }
  if (message.goOn) goOn();
  if (message.databaseUrl) void start(message);
});
await once(process, 'disconnect');
process.exit();
