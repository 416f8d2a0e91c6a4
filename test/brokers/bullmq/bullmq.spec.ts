import { describeDeliveries } from '../deliveries.js';
import { BullBroker } from './bullmq.broker.js';

describeDeliveries('bullmq', BullBroker.open);
