import type { BrokerNames } from '../brokers/broker-names.js';

/** What the queue of settlements is declared with, by whoever comes first: the bank or its consumer. */
export const settlementsQueueOptions = ({ deadLetterExchange }: BrokerNames) => ({ durable: true, deadLetterExchange });
