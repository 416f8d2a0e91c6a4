import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { idempotencyEntities, IdempotencyModule } from 'nestjs-idempotency';

import { GatedController } from '../wire/gated.controller.js';
import { Ledger, ledgerProvider } from '../wire/ledger.js';
import type { Platform } from '../wire/wire-app.js';

export interface Shop {
  /** Where one writes a row and then waits at its gate. */
  readonly url: string;
  readonly ledger: Ledger;
  /** Closes every connection, as a network does that breaks down. */
  hangUp(): void;
  close(): Promise<void>;
}

/** An application that pages of another origin call. */
export async function openShop(
  platform: Platform,
  url: string,
  configure: (app: INestApplication) => void,
): Promise<Shop> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ type: 'postgres', url, entities: [...idempotencyEntities], retryAttempts: 0 }),
      // So long that whoever finds a request in progress is told to wait the most there is, a minute.
      IdempotencyModule.forRoot({ singleTenant: true, lease: '5m' }),
    ],
    controllers: [GatedController],
    providers: [ledgerProvider(true)],
  })
  class ShopModule {}

  const adapter = platform === 'express' ? new ExpressAdapter() : new FastifyAdapter();
  const app = await NestFactory.create(ShopModule, adapter, { abortOnError: false, logger: false });
  configure(app);
  const server = app.getHttpServer() as Server;
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await app.listen(0, '127.0.0.1');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/gated/value`,
    ledger: app.get(Ledger),
    hangUp: () => sockets.forEach((socket) => socket.destroy()),
    close: () => app.close(),
  };
}
