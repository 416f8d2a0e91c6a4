import { describeDeliveries } from '../deliveries.js';
import { RabbitBroker } from './rabbitmq.broker.js';

describeDeliveries('rabbitmq', (name) => RabbitBroker.open('rabbitmq', name));
