export const USAGE = `Usage: npm run settlements --workspace apps/payments -- [options]

Plays the bank: charges cards through the running demo, and tells by a broker that their money has arrived. It prints
a line for each settlement: its id, the charge, the amount.

  --count N                    how many charges; default 10
  --to rabbitmq|nats|both      the brokers; default every one whose URL is set
  --duplicates N               sends each event N more times to each broker, after all the others
  --redeliver-while-running    sends each event twice, one right behind the other, so that they are worked on together
  --reorder                    sends in no order at all
  --replay-dead-letters        charges nothing: sends again what was put aside, as an operator does after a repair

  RABBITMQ_URL, NATS_URL       where the brokers are
  BROKER_PREFIX                as the demo has it
  PAYMENTS_URL                 where the demo is; default http://localhost:3000
`;
