import { randomUUID } from 'node:crypto';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getDataSourceToken, TypeOrmModule } from '@nestjs/typeorm';
import {
  type ConsumedMessage,
  IdempotencyContext,
  IdempotencyModule,
  type IdempotencyModuleOptions,
  IdempotencyService,
  type IdempotentOperation,
  type OperationRequest,
} from 'nestjs-idempotency';
import type { DataSource } from 'typeorm';

import type { Logbook } from '../module/listening.js';
import { dataSourceOptions, pay, poolOf } from '../module/work-app.js';
import type { Witness } from '../module/witness.js';

export interface ServiceAppOptions {
  readonly url: string;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly typeorm?: { readonly [Option in string]: unknown };
  readonly logbook?: Logbook;
}

/** An application without a server: nobody but its own code calls the service. */
export async function startServiceApp({ url, idempotency, typeorm, logbook }: ServiceAppOptions) {
  @Module({
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url, typeorm), retryAttempts: 0 }),
      IdempotencyModule.forRoot({
        singleTenant: true,
        providerKeySecret: 'the secret of the tests',
        ...idempotency,
      }),
    ],
  })
  class ServiceModule {}

  const app = await NestFactory.createApplicationContext(ServiceModule, {
    abortOnError: false,
    logger: logbook ?? false,
  });
  const dataSource = app.get<DataSource>(getDataSourceToken());
  return {
    service: app.get(IdempotencyService),
    context: app.get(IdempotencyContext),
    dataSource,

    /** Every connection of the pool is back in it, and nobody waits for one. */
    isPoolAtRest(): boolean {
      const { totalCount, idleCount, waitingCount } = poolOf(dataSource);
      return totalCount === idleCount && waitingCount === 0;
    },

    stop: (): Promise<void> => app.close(),
  };
}

export type ServiceApp = Awaited<ReturnType<typeof startServiceApp>>;

/** An operation of its own, whose key marks its payments. */
export function request(own: Partial<OperationRequest> = {}): OperationRequest {
  return { endpoint: 'jobs', key: randomUUID(), payload: { month: '2026-11' }, ...own };
}

/** A message of its own, whose key marks its payments. */
export function message(own: Partial<ConsumedMessage> = {}): ConsumedMessage & { readonly key: string } {
  return { endpoint: 'consumer', key: randomUUID(), payload: { order: 7 }, ...own };
}

/** Work that pays, counts how often it has begun, and says what it was told. */
export function paying(label = 'paid') {
  const seen = { runs: 0 };
  const work = async ({ manager, key, attempts }: IdempotentOperation) => {
    seen.runs++;
    await pay(manager, key, label);
    return { label, attempts };
  };
  return Object.assign(work, { seen });
}

/** Pays, and fails then. */
export function failing(error: unknown = new Error('The work failed.')) {
  const seen = { runs: 0 };
  const work = async ({ manager, key }: IdempotentOperation): Promise<never> => {
    seen.runs++;
    await pay(manager, key, 'undone');
    throw error;
  };
  return Object.assign(work, { seen });
}

/** A row as it stands in the table; undefined where there is none. */
export interface RecordRow {
  readonly tenant: string;
  readonly endpoint: string;
  readonly state: 'in_progress' | 'completed';
  readonly attempts: number;
  readonly is_live: boolean | null;
  readonly body: string | null;
  readonly response_status: number | null;
  readonly response_omitted: string | null;
  readonly response_key_id: string | null;
  readonly retained_hours: number;
}

export async function recordOf(witness: Witness, key: string): Promise<RecordRow | undefined> {
  const [row] = await witness.rows<RecordRow>(
    `SELECT tenant, endpoint, state, attempts, locked_until > now() AS is_live, encode(response_body, 'escape') AS body,
       response_status, response_omitted, response_key_id,
       round(extract(epoch FROM expires_at - locked_at) / 3600)::integer AS retained_hours
     FROM idempotency_records WHERE key = $1`,
    key,
  );
  return row;
}

/** Lets an hour pass for an operation in progress: its lease has run out. */
export async function pass(witness: Witness, key: string): Promise<void> {
  await witness.rows(
    `UPDATE idempotency_records SET locked_until = locked_until - interval '1 hour' WHERE key = $1 AND state = 'in_progress'`,
    key,
  );
}
