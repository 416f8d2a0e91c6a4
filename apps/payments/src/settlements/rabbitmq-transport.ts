import { type INestApplication, Logger } from '@nestjs/common';
import { type ConsumerDeserializer, type MicroserviceOptions, type RmqOptions, Transport } from '@nestjs/microservices';
import { RabbitMq } from '../brokers/rabbitmq.js';
import { SETTLEMENTS } from './settlements-endpoint.js';
import { settlementsQueueOptions } from './settlements-queue.js';

/** How many settlements are handled at the same time. */
const PREFETCH = 8;

/**
 * Has the app consume settlements from RabbitMQ, where it is said to be; nobody waits for that. Handlers are there
 * before, and a place for dead letters.
 */
export function consumeFromRabbitMq(app: INestApplication): void {
  const rabbitMq = app.get<RabbitMq | null>(RabbitMq, { strict: false });
  if (!rabbitMq) return;
  app.connectMicroservice<MicroserviceOptions>(transport(rabbitMq), { inheritAppConfig: true });
  rabbitMq.declared
    .then(() => app.startAllMicroservices())
    .catch((error: unknown) => new Logger('RabbitMQ').error(error));
}

const transport = ({ url, names }: RabbitMq): RmqOptions => ({
  transport: Transport.RMQ,
  options: {
    urls: [url],
    queue: names.settlementsQueue,
    queueOptions: settlementsQueueOptions(names),
    noAck: false,
    prefetchCount: PREFETCH,
    deserializer: bankEvents,
  },
});

/** The bank knows nothing of Nest's envelopes: whatever lies in its queue is for one handler. */
const bankEvents: ConsumerDeserializer = { deserialize: (data: unknown) => ({ pattern: SETTLEMENTS, data }) };
