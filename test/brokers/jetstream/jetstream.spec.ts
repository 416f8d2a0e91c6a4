import { describeDeliveries } from '../deliveries.js';
import { JetStreamBroker } from './jetstream.broker.js';

describeDeliveries('jetstream', JetStreamBroker.open);
