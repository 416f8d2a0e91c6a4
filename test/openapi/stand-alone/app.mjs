// Starts an application with the build that is named, posts twice with one key, and prints both answers; with
// `document`, prints the application's document instead.
import 'reflect-metadata';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';

const [build, task] = process.argv.slice(2);
const { Idempotent, IdempotencyModule, idempotencyEntities, idempotencyMigrations } = await import(build);

class ThingsController {
  create() {
    return { id: 1 };
  }
}
const route = Object.getOwnPropertyDescriptor(ThingsController.prototype, 'create');
const decorated = Reflect.decorate([Post(), Idempotent()], ThingsController.prototype, 'create', route);
Object.defineProperty(ThingsController.prototype, 'create', decorated);
Controller('things')(ThingsController);

class AppModule {}
Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL,
      entities: [...idempotencyEntities],
      migrations: [...idempotencyMigrations],
      migrationsRun: true,
      retryAttempts: 0,
    }),
    IdempotencyModule.forRoot({ singleTenant: true }),
  ],
  controllers: [ThingsController],
})(AppModule);

const app = await NestFactory.create(AppModule, { logger: false, abortOnError: false });
console.log(JSON.stringify(task === 'document' ? await document() : await postTwice()));
await app.close();

async function document() {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  return SwaggerModule.createDocument(app, new DocumentBuilder().build());
}

async function postTwice() {
  await app.listen(0);
  const { port } = app.getHttpServer().address();
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  const answers = [];
  for (let i = 0; i < 2; i++) {
    const answer = await fetch(`http://localhost:${port}/things`, { method: 'POST', headers });
    answers.push([answer.status, answer.headers.get('Idempotent-Replayed'), await answer.json()]);
  }
  return answers;
}
