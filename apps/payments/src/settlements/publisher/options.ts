import { parseArgs } from 'node:util';

export type Destination = 'rabbitmq' | 'nats';

export interface PublisherOptions {
  readonly help: boolean;
  readonly count: number;
  /** Undefined where nothing was said: every broker there is. */
  readonly to: readonly Destination[] | undefined;
  readonly duplicates: number;
  readonly redeliverWhileRunning: boolean;
  readonly reorder: boolean;
  readonly replayDeadLetters: boolean;
}

/** Throws with a line fit to be shown when an option makes no sense. */
export function readOptions(args: readonly string[]): PublisherOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      count: { type: 'string', default: '10' },
      to: { type: 'string' },
      duplicates: { type: 'string', default: '0' },
      'redeliver-while-running': { type: 'boolean', default: false },
      reorder: { type: 'boolean', default: false },
      'replay-dead-letters': { type: 'boolean', default: false },
    },
  });
  return {
    help: values.help,
    count: wholeNumber('--count', values.count),
    to: values.to === undefined ? undefined : destinations(values.to),
    duplicates: wholeNumber('--duplicates', values.duplicates),
    redeliverWhileRunning: values['redeliver-while-running'],
    reorder: values.reorder,
    replayDeadLetters: values['replay-dead-letters'],
  };
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new Error(`${name} ${text} is not a whole number up to 999999.`);
  return Number(text);
}

function destinations(text: string): Destination[] {
  if (text === 'both') return ['rabbitmq', 'nats'];
  if (text === 'rabbitmq' || text === 'nats') return [text];
  throw new Error(`--to ${text} is none of rabbitmq, nats, both.`);
}
