import { describeDeliveries } from '../deliveries.js';
import { RabbitBroker } from '../rabbitmq/rabbitmq.broker.js';

describeDeliveries('golevelup', (name) => RabbitBroker.open('golevelup', name));
