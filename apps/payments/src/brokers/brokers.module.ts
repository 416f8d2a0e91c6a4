import { Module } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { brokerNames } from './broker-names.js';
import { Nats } from './nats.js';
import { RabbitMq } from './rabbitmq.js';

/** Each broker is null where nobody has said where it is. */
@Module({
  providers: [
    {
      provide: RabbitMq,
      inject: [Settings],
      useFactory: ({ rabbitMqUrl, brokerPrefix }: Settings) =>
        rabbitMqUrl ? new RabbitMq(rabbitMqUrl, brokerNames(brokerPrefix)) : null,
    },
    {
      provide: Nats,
      inject: [Settings],
      useFactory: ({ natsUrl, brokerPrefix }: Settings) =>
        natsUrl ? new Nats(natsUrl, brokerNames(brokerPrefix)) : null,
    },
  ],
  exports: [RabbitMq, Nats],
})
export class BrokersModule {}
