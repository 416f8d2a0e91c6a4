/** The attributes that metrics can have. No tenant and no key: nothing whose number grows with the traffic. */
export const ATTRIBUTES = {
  endpoint: 'idempotency.endpoint',
  outcome: 'idempotency.outcome',
  channel: 'idempotency.channel',
  state: 'idempotency.state',
} as const;

/** One metric as it is declared; its name, unit and attributes are part of the public contract. */
export interface Metric {
  readonly name: string;
  readonly kind: 'counter' | 'histogram' | 'up-down counter' | 'gauge';
  readonly unit: string;
  readonly description: string;
  readonly attributes: readonly (keyof typeof ATTRIBUTES)[];
}

/** Every metric there is. */
export const METRICS = {
  outcomes: {
    name: 'idempotency.outcomes',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts, by what they came to',
    attributes: ['endpoint', 'outcome', 'channel'],
  },
  claimDuration: {
    name: 'idempotency.claim.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long it took to claim an operation, or to find what stands in the way',
    attributes: ['endpoint', 'outcome'],
  },
  workDuration: {
    name: 'idempotency.work.duration',
    kind: 'histogram',
    unit: 's',
    description: 'How long handlers ran',
    attributes: ['endpoint', 'outcome'],
  },
  claimsLost: {
    name: 'idempotency.claims.lost',
    kind: 'counter',
    unit: '{claim}',
    description: 'Claims of this process that another worker has taken over',
    attributes: ['endpoint'],
  },
  active: {
    name: 'idempotency.operations.active',
    kind: 'up-down counter',
    unit: '{operation}',
    description: 'Operations that this process holds',
    attributes: ['endpoint'],
  },
  oldestAge: {
    name: 'idempotency.operations.oldest_age',
    kind: 'gauge',
    unit: 's',
    description: 'How long this process has held the operation that it has held for longest',
    attributes: [],
  },
  records: {
    name: 'idempotency.records',
    kind: 'gauge',
    unit: '{record}',
    description: "Records in the table, by the planner's estimate",
    attributes: ['state'],
  },
  unknown: {
    name: 'idempotency.operations.unknown',
    kind: 'gauge',
    unit: '{operation}',
    description:
      'Operations with an outside call of which nobody knows whether it has happened, and that nobody works on',
    attributes: [],
  },
  unknownOldestAge: {
    name: 'idempotency.operations.unknown_oldest_age',
    kind: 'gauge',
    unit: 's',
    description: 'How long ago the first of the outside calls was announced of which nobody knows',
    attributes: [],
  },
  sweepLag: {
    name: 'idempotency.sweep.lag',
    kind: 'gauge',
    unit: 's',
    description: 'For how long a sweep could have cleared away the first of the records that are past their retention',
    attributes: [],
  },
  swept: {
    name: 'idempotency.swept',
    kind: 'counter',
    unit: '{record}',
    description: 'Records past their retention that this process has cleared away',
    attributes: [],
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** From a millisecond to ten seconds. */
export const CLAIM_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** From five milliseconds to a quarter of an hour. */
export const WORK_BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 900];
