import { type BrokerNames, brokerNames } from '../../brokers/broker-names.js';
import { readBrokers, webUrl } from '../../environment.js';
import type { SettlementEvent } from '../settlement-event.js';
import { settleNewCharges } from './bank.js';
import { deliveriesOf } from './deliveries.js';
import { NatsPostbox } from './nats-postbox.js';
import { type Destination, type PublisherOptions, readOptions } from './options.js';
import type { Postbox } from './postbox.js';
import { RabbitMqPostbox } from './rabbitmq-postbox.js';
import { USAGE } from './usage.js';

async function publish(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(USAGE);
    return;
  }
  const postboxes = await openPostboxes(options, process.env);
  try {
    if (options.replayDeadLetters) await Promise.all(postboxes.map(replay));
    else await settle(postboxes, options);
  } finally {
    await Promise.all(postboxes.map(({ box }) => box.close()));
  }
}

interface Addressed {
  readonly name: Destination;
  readonly box: Postbox;
}

async function openPostboxes({ to }: PublisherOptions, variables: NodeJS.ProcessEnv): Promise<Addressed[]> {
  const { rabbitMqUrl, natsUrl, brokerPrefix } = readBrokers(variables);
  const urls = { rabbitmq: rabbitMqUrl, nats: natsUrl };
  const wanted = to ?? (['rabbitmq', 'nats'] as const).filter((name) => urls[name] !== undefined);
  if (wanted.length === 0) throw new Error('Set RABBITMQ_URL or NATS_URL, or both.');
  const opened: Addressed[] = [];
  for (const name of wanted) {
    const url = urls[name];
    if (url === undefined) throw new Error(`Set ${name === 'nats' ? 'NATS_URL' : 'RABBITMQ_URL'}.`);
    opened.push({ name, box: await open(name, url, brokerNames(brokerPrefix)) });
  }
  return opened;
}

const open = (name: Destination, url: string, names: BrokerNames): Promise<Postbox> =>
  name === 'nats' ? NatsPostbox.open(url, names) : RabbitMqPostbox.open(url, names);

async function replay({ name, box }: Addressed): Promise<void> {
  console.log(`${name}: ${await box.replayDeadLetters()} dead letters are sent again.`);
}

async function settle(postboxes: readonly Addressed[], options: PublisherOptions): Promise<void> {
  const events = await settleNewCharges(
    webUrl('PAYMENTS_URL', process.env['PAYMENTS_URL'] || 'http://localhost:3000'),
    options.count,
  );
  for (const { data } of events) console.log(`${data.id} ${data.charge} ${data.amount} ${data.currency}`);
  await Promise.all(postboxes.map((addressed) => post(addressed, deliveriesOf(events, options))));
}

async function post({ name, box }: Addressed, deliveries: readonly SettlementEvent[]): Promise<void> {
  await box.send(deliveries);
  console.log(`${name}: ${deliveries.length} messages are sent.`);
}

function explain(error: unknown): string {
  const { code, message, cause } = error as NodeJS.ErrnoException;
  // Several addresses of one host that all refuse are an error with a code and no message.
  const reason =
    cause instanceof Error ? `${message}: ${cause.message || String((cause as NodeJS.ErrnoException).code)}` : message;
  return reason || code || String(error);
}

try {
  await publish();
} catch (error) {
  console.error(`The settlements were not published: ${explain(error)}`);
  process.exit(1);
}
