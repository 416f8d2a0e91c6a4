import { randomInt } from 'node:crypto';
import type { PublisherOptions } from './options.js';

/** Every event as often as it is to be sent to one broker, in the order of sending. */
export function deliveriesOf<Event>(
  events: readonly Event[],
  {
    duplicates,
    redeliverWhileRunning,
    reorder,
  }: Pick<PublisherOptions, 'duplicates' | 'redeliverWhileRunning' | 'reorder'>,
): Event[] {
  const first = events.flatMap((event) => (redeliverWhileRunning ? [event, event] : [event]));
  const deliveries = [...first, ...Array.from({ length: duplicates }, () => events).flat()];
  return reorder ? shuffled(deliveries) : deliveries;
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  const left = [...items];
  return items.map(() => left.splice(randomInt(left.length), 1)[0]!);
}
