import { type INestApplication, Module, type ModuleMetadata, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { MicroserviceOptions } from '@nestjs/microservices';
import { TypeOrmModule } from '@nestjs/typeorm';
import { IdempotencyModule, type IdempotencyModuleOptions, type Settlement } from 'nestjs-idempotency';

import { Logbook } from '../module/listening.js';
import { Witness } from '../module/witness.js';
import { dataSourceOptions } from '../module/work-app.js';

export interface MessageAppOptions extends ModuleMetadata {
  readonly url: string;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
  readonly transports?: readonly MicroserviceOptions[];
  readonly inheritAppConfig?: boolean;
}

/** What became of one delivery, and at which consumer. */
export interface Settled {
  readonly endpoint: string;
  readonly settlement: Settlement;
}

export interface MessageApp {
  readonly app: INestApplication;
  readonly witness: Witness;
  readonly logbook: Logbook;
  /** Every settlement there has been, in order. */
  readonly settled: readonly Settled[];
  stop(): Promise<void>;
}

/** An application that is delivered messages, beside its HTTP side. Rejects, all closed again, where it does not start. */
export async function startMessageApp(options: MessageAppOptions): Promise<MessageApp> {
  const { url, idempotency = {}, transports = [], inheritAppConfig = true, ...module } = options;
  const settled: Settled[] = [];
  const logbook = new Logbook();

  @Module({
    ...module,
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url), retryAttempts: 0 }),
      IdempotencyModule.forRoot({
        singleTenant: true,
        ...idempotency,
        messages: {
          onSettled: (endpoint, settlement) => void settled.push({ endpoint, settlement }),
          ...idempotency.messages,
        },
      }),
      ...(module.imports ?? []),
    ],
  })
  class MessageModule {}

  const app = await NestFactory.create(MessageModule as Type, { abortOnError: false, logger: logbook });
  try {
    for (const transport of transports) app.connectMicroservice<MicroserviceOptions>(transport, { inheritAppConfig });
    await app.init();
    await app.startAllMicroservices();
    await app.listen(0);
  } catch (error) {
    await app.close();
    throw error;
  }
  const witness = await Witness.of(url);
  return {
    app,
    witness,
    logbook,
    settled,
    stop: async () => {
      await app.close();
      await witness.close();
    },
  };
}
