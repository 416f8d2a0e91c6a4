import { describe, expect, it } from '@jest/globals';

import { IdempotencyError } from './errors.js';
import { Observation, type Observer, outcomeEvent, type OutcomeEvent } from './observation.js';

const OPERATION = { tenant: 'acme', endpoint: 'POST /payments', key: 'order-1001' };

/** Notes what it is told. */
class Notes implements Observer {
  readonly events: OutcomeEvent[] = [];
  lostClaims = 0;

  here(): string {
    return 'where it arrived';
  }

  trace<Result>(_part: unknown, _observation: unknown, run: () => Promise<Result>): Promise<Result> {
    return run();
  }

  claimed(): void {
    // Not asked here.
  }

  lost(): void {
    this.lostClaims++;
  }

  ended(observation: Observation): void {
    this.events.push(outcomeEvent(observation));
  }
}

function observed() {
  const notes = new Notes();
  return { notes, observation: new Observation(notes, 'http', OPERATION.endpoint) };
}

describe('an attempt that is followed', () => {
  it('has one end, the first', () => {
    const { notes, observation } = observed();
    observation.end({ outcome: 'lost' });
    observation.end({ outcome: 'replayed' });
    expect(notes.events).toEqual([{ channel: 'http', endpoint: 'POST /payments', outcome: 'lost' }]);
  });

  it('loses its claim once, whoever notices', () => {
    const { notes, observation } = observed();
    observation.lose();
    observation.lose();
    expect(notes.lostClaims).toBe(1);
  });

  it('remembers where it arrived', () => {
    expect(observed().observation.origin).toBe('where it arrived');
  });

  it.each([
    [new IdempotencyError('idempotency-key-missing', ''), { outcome: 'key_missing', error: 'idempotency-key-missing' }],
    [new Error('Who is it?'), { outcome: 'denied' }],
  ])('has ended where it cannot be found out which operation it is: %s', async (error, ending) => {
    const { notes, observation } = observed();
    await expect(observation.identify(() => Promise.reject(error))).rejects.toBe(error);
    expect(notes.events).toEqual([{ channel: 'http', endpoint: 'POST /payments', ...ending }]);
  });

  it('adds up what its claims and its runs take', async () => {
    const { observation } = observed();
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    await observation.claiming(turn);
    const { claimMs } = observation;
    await observation.claiming(turn);
    await observation.working(turn).then(() => observation.working(turn));
    expect(observation.claimMs).toBeGreaterThan(claimMs!);
    expect(observation.workMs).toBeGreaterThan(0);
  });
});
