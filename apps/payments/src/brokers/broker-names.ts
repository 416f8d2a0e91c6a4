/** What everything of ours is called at the brokers. */
export interface BrokerNames {
  /** RabbitMQ: the bank's events, and those that somebody has to look at. */
  readonly settlementsQueue: string;
  readonly deadLetterExchange: string;
  readonly deadLetterQueue: string;
  /** RabbitMQ: a topic exchange for events of ours, by their type. */
  readonly eventsExchange: string;
  /** NATS: the same by streams, each with the subject it takes. */
  readonly settlements: StreamName;
  readonly deadLetters: StreamName;
  /** Takes the subjects below the one that is given here. */
  readonly events: StreamName;
  /** NATS: the durable consumer of settlements. */
  readonly consumer: string;
}

export interface StreamName {
  readonly stream: string;
  readonly subject: string;
}

export const brokerNames = (prefix: string): BrokerNames => ({
  settlementsQueue: `${prefix}.settlements`,
  deadLetterExchange: `${prefix}.settlements.dead`,
  deadLetterQueue: `${prefix}.settlements.dead`,
  eventsExchange: `${prefix}.events`,
  // A stream's name has no dots.
  settlements: { stream: `${prefix}-settlements`, subject: `${prefix}.settlements` },
  deadLetters: { stream: `${prefix}-settlements-dead`, subject: `${prefix}.dead.settlements` },
  events: { stream: `${prefix}-events`, subject: `${prefix}.events` },
  consumer: 'ledger',
});
