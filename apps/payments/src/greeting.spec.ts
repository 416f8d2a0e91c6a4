import { describe, expect, it } from '@jest/globals';
import { greeting } from './greeting.js';

const URL = 'http://localhost:3000';
const PSP = { providerUrl: 'http://localhost:4000' };

describe('greeting', () => {
  it('says how to have settlements consumed where no broker is known', () => {
    expect(greeting(URL, PSP)).toContain('No settlements are taken: set RABBITMQ_URL, NATS_URL or both');
  });

  it.each([
    [{ rabbitMqUrl: 'amqp://localhost' }, 'Settlements are taken from RabbitMQ. '],
    [{ natsUrl: 'nats://localhost' }, 'Settlements are taken from NATS. '],
    [
      { rabbitMqUrl: 'amqp://localhost', natsUrl: 'nats://localhost' },
      'Settlements are taken from RabbitMQ and NATS. To send some: npm run settlements --workspace apps/payments',
    ],
  ])('says where they are taken from with %j', (brokers, line) => {
    expect(greeting(URL, { ...PSP, ...brokers })).toContain(line);
  });
});
