import { type INestApplication, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  idempotencyEntities,
  idempotencyMigrations,
  IdempotencyModule,
  type IdempotencyModuleOptions,
} from 'nestjs-idempotency';

import { CompiledController, PaymentsController, RefundsController } from './documented.controllers.js';

export const PLATFORMS = ['express', 'fastify'] as const;

export interface DocumentedAppOptions {
  readonly platform?: (typeof PLATFORMS)[number];
  readonly url: string;
  readonly idempotency?: Partial<IdempotencyModuleOptions>;
}

/** An application with the library, created as for `app.listen()`, and not listening yet. */
export function createDocumentedApp({ platform, url, idempotency }: DocumentedAppOptions): Promise<INestApplication> {
  @Module({
    imports: [
      TypeOrmModule.forRoot({
        type: 'postgres',
        url,
        entities: [...idempotencyEntities],
        migrations: idempotencyMigrations,
        migrationsRun: true,
        retryAttempts: 0,
      }),
      IdempotencyModule.forRoot({ singleTenant: true, ...idempotency }),
    ],
    controllers: [PaymentsController, RefundsController, CompiledController],
  })
  class DocumentedModule {}

  const adapter = platform === 'fastify' ? new FastifyAdapter() : new ExpressAdapter();
  return NestFactory.create(DocumentedModule, adapter, { abortOnError: false, logger: false });
}

/** An application of the same controllers that does not know the library's module. */
export function createForeignApp(): Promise<INestApplication> {
  @Module({ controllers: [PaymentsController, RefundsController, CompiledController] })
  class ForeignModule {}

  return NestFactory.create(ForeignModule, { abortOnError: false, logger: false });
}

export function documentOf(app: INestApplication, openapi: '3.0.0' | '3.1.0' = '3.0.0'): OpenAPIObject {
  const config = new DocumentBuilder().setTitle('Payments').setVersion('1').setOpenAPIVersion(openapi).build();
  return SwaggerModule.createDocument(app, config);
}
