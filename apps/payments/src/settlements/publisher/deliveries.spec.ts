import { describe, expect, it } from '@jest/globals';
import { deliveriesOf } from './deliveries.js';

const ORDERLY = { duplicates: 0, redeliverWhileRunning: false, reorder: false };

describe('deliveriesOf', () => {
  it.each([
    ['each once', {}, ['a', 'b']],
    ['duplicates after all the others', { duplicates: 2 }, ['a', 'b', 'a', 'b', 'a', 'b']],
    ['one right behind the other', { redeliverWhileRunning: true }, ['a', 'a', 'b', 'b']],
    ['both', { duplicates: 1, redeliverWhileRunning: true }, ['a', 'a', 'b', 'b', 'a', 'b']],
  ])('sends %s', (_, options, deliveries) => {
    expect(deliveriesOf(['a', 'b'], { ...ORDERLY, ...options })).toEqual(deliveries);
  });

  it('loses none and adds none when it reorders', () => {
    const events = Array.from({ length: 100 }, (_, at) => at);
    const deliveries = deliveriesOf(events, { ...ORDERLY, duplicates: 1, reorder: true });
    expect(deliveries).not.toEqual([...events, ...events]);
    expect([...deliveries].sort((one, other) => one - other)).toEqual(events.flatMap((at) => [at, at]));
  });
});
