import { describeDeliveries } from '../deliveries.js';
import { BossBroker } from './pg-boss.broker.js';

describeDeliveries('pg-boss', (_, redeliverMs, databaseUrl) => BossBroker.open(databaseUrl, redeliverMs));
