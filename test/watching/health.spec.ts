import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyHealth, IdempotencyModule } from 'nestjs-idempotency';
import type { AddressInfo } from 'node:net';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { DatabaseProxy } from '../faults/database-proxy.js';
import { Logbook } from '../module/listening.js';
import { dataSourceOptions, prepareDatabase } from '../module/work-app.js';

jest.setTimeout(30_000);

@Controller('health')
class HealthController {
  constructor(
    private readonly terminus: HealthCheckService,
    private readonly idempotency: IdempotencyHealth,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.terminus.check([() => this.idempotency.indicate('idempotency')]);
  }
}

let database: TestDatabase;
let proxy: DatabaseProxy;
let app: INestApplication;
const logbook = new Logbook();

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
  proxy = await DatabaseProxy.to(database.url);

  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(proxy.url), retryAttempts: 0 }),
      IdempotencyModule.forRoot({ singleTenant: true }),
      TerminusModule.forRoot({ logger: false }),
    ],
    controllers: [HealthController],
  })
  class HealthyModule {}

  app = await NestFactory.create(HealthyModule, { abortOnError: false, logger: logbook });
  await app.listen(0);
});

afterAll(async () => {
  await app?.close();
  await proxy?.close();
  await database?.drop();
});

async function health(): Promise<{ status: number; idempotency: unknown }> {
  const { port } = app.getHttpServer().address() as AddressInfo;
  const response = await fetch(`http://localhost:${port}/health`);
  const { details } = (await response.json()) as { details: { idempotency: unknown } };
  return { status: response.status, idempotency: details.idempotency };
}

describe("an endpoint of terminus' with the library's indicator", () => {
  it('answers 503 while the library cannot serve, tells callers no reason, and tells the log', async () => {
    expect(await health()).toEqual({ status: 200, idempotency: { status: 'up' } });
    await proxy.refuse();
    expect(await health()).toEqual({ status: 503, idempotency: { status: 'down' } });
    expect(logbook.complaints('The idempotent endpoints cannot serve. ')).toHaveLength(1);
    await proxy.heal();
    expect(await health()).toEqual({ status: 200, idempotency: { status: 'up' } });
  });
});
