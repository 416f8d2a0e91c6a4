import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { endAll, launch } from './launch.js';

const SCRIPT = join(import.meta.dirname, '../../scripts/test-brokers.js');

/** Nobody listens there. */
const AWAY = {
  RABBITMQ_URL: 'amqp://guest:secret@127.0.0.1:1/orders',
  NATS_URL: 'nats://127.0.0.1:1',
  REDIS_URL: 'redis://127.0.0.1:1',
  MQTT_URL: 'mqtt://127.0.0.1:1',
};

afterEach(endAll);

describe('npm run test:brokers', () => {
  it('runs nothing where a broker is away, names each of them, and says how to start them', async () => {
    const launched = launch([process.execPath, SCRIPT], AWAY);
    expect(await launched.ended).toBe(1);
    for (const [name, variable] of [
      ['RabbitMQ', 'RABBITMQ_URL'],
      ['NATS', 'NATS_URL'],
      ['Redis', 'REDIS_URL'],
      ['MQTT broker', 'MQTT_URL'],
    ]) {
      expect(launched.output()).toContain(`There is no ${name} at 127.0.0.1:1 (${variable}): ECONNREFUSED.`);
    }
    expect(launched.output()).toContain('docker compose --profile brokers up -d --wait');
    expect(launched.output()).not.toContain('secret');
  });
});
