import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Injectable, SetMetadata, type Type } from '@nestjs/common';
import { EventPattern } from '@nestjs/microservices';
import { Idempotent } from 'nestjs-idempotency';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { prepareDatabase } from '../module/work-app.js';
import { startMessageApp } from './message-app.js';

jest.setTimeout(30_000);

/** A consumer as another module would have it, under the same name. */
function anotherConsumer(endpoint?: string): Type {
  @Controller()
  class EventsController {
    @EventPattern<string>('settled')
    @Idempotent({ ...(endpoint !== undefined && { endpoint }) })
    handle(): void {
      // What it does is of no interest here.
    }
  }
  return EventsController;
}

/** What `@RabbitSubscribe()` leaves on a handler that takes its messages in batches. */
const subscribesInBatches = SetMetadata(Symbol('RABBIT_HANDLER'), { type: 'subscribe', batchOptions: { size: 10 } });

@Injectable()
class BatchConsumer {
  @subscribesInBatches
  @Idempotent()
  handle(): void {
    // It is never called.
  }
}

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
  await prepareDatabase(database.url);
});

afterAll(() => database?.drop());

describe('an application', () => {
  it('with two consumers that bear one name by accident does not start', async () => {
    const controllers = [anotherConsumer(), anotherConsumer()];
    await expect(startMessageApp({ url: database.url, controllers })).rejects.toThrow(
      'EventsController.handle: there are two consumers of this name',
    );
  });

  it.each([
    ['of which one is given a name', [anotherConsumer(), anotherConsumer('ledger')]],
    ['that are given one name', [anotherConsumer('ledger'), anotherConsumer('ledger')]],
  ])('with two such consumers %s starts', async (_, controllers) => {
    const app = await startMessageApp({ url: database.url, controllers });
    await app.stop();
  });

  it('with a consumer that is handed several messages at once does not start', async () => {
    await expect(startMessageApp({ url: database.url, providers: [BatchConsumer] })).rejects.toThrow(
      'BatchConsumer.handle is handed several messages at once',
    );
  });
});
