import type { DynamicModule, INestApplicationContext, NestApplicationOptions, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

import type { Place, Transport } from '../broker.js';

const OPTIONS: NestApplicationOptions = { abortOnError: false, logger: ['error', 'fatal'] };

/** Each by itself: a process has one of them. */
const MODULES = {
  jetstream: () => import('../jetstream/jetstream.module.js'),
  bullmq: () => import('../bullmq/bullmq.module.js'),
  'pg-boss': () => import('../pg-boss/pg-boss.module.js'),
  rabbitmq: () => import('../rabbitmq/rabbitmq.module.js'),
  golevelup: () => import('../golevelup/golevelup.module.js'),
} satisfies Record<Transport, () => Promise<unknown>>;

/** Loads the packages of a transport. */
export async function load(transport: Transport): Promise<void> {
  await MODULES[transport]();
}

/** The consumer of the messages that come from there. */
export async function moduleAt(place: Place): Promise<DynamicModule | Type> {
  switch (place.transport) {
    case 'jetstream':
      return (await MODULES.jetstream()).JetStreamModule.at(place);
    case 'bullmq':
      return (await MODULES.bullmq()).BullModule.at(place);
    case 'pg-boss':
      return (await MODULES['pg-boss']()).BossModule.at(place);
    case 'rabbitmq':
      return (await MODULES.rabbitmq()).RabbitModule;
    case 'golevelup':
      return (await MODULES.golevelup()).GolevelupModule.at(place);
  }
}

/** Starts an application that consists of it. */
export async function start(module: Type, place: Place): Promise<INestApplicationContext> {
  if (place.transport !== 'rabbitmq') return NestFactory.createApplicationContext(module, OPTIONS);
  const { transportAt } = await MODULES.rabbitmq();
  // Not `createMicroservice()`: that closes its channel first, before what is under way could be acknowledged.
  const app = await NestFactory.create(module, OPTIONS);
  app.connectMicroservice(transportAt(place), { inheritAppConfig: true });
  await app.init();
  await app.startAllMicroservices();
  return app;
}
