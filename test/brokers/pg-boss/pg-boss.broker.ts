import { Pool } from 'pg';
import PgBoss from 'pg-boss';

import type { BossPlace, Broker, Message } from '../broker.js';
import { bookingEvent } from '../booking-event.js';

export class BossBroker implements Broker {
  private constructor(
    readonly place: BossPlace,
    private readonly boss: PgBoss,
    private readonly witness: Pool,
  ) {}

  /** In the database of the bookings. `redeliverMs`: after this time a job is given to another worker. */
  static async open(url: string, redeliverMs: number): Promise<BossBroker> {
    const place: BossPlace = { transport: 'pg-boss', url, queue: 'bookings', deadLetters: 'bookings_dead' };
    const boss = await new PgBoss({ connectionString: url, max: 4, schedule: false, supervise: false }).start();
    await boss.createQueue(place.deadLetters, { name: place.deadLetters });
    await boss.createQueue(place.queue, {
      name: place.queue,
      deadLetter: place.deadLetters,
      retryLimit: 1_000,
      expireInSeconds: redeliverMs / 1_000,
    });
    return new BossBroker(place, boss, new Pool({ connectionString: url, max: 1 }));
  }

  async send(messages: readonly Message[]): Promise<void> {
    await this.boss.insert(messages.map((message) => ({ name: this.place.queue, data: bookingEvent(message) })));
  }

  async unsettled(): Promise<number> {
    return this.boss.getQueueSize(this.place.queue, { before: 'completed' });
  }

  acknowledged(): Promise<string[]> {
    return this.references(`name = $1 AND state = 'completed'`, this.place.queue);
  }

  async deadLetters(): Promise<string[]> {
    const references = await this.references('name = $1', this.place.deadLetters);
    return references.sort();
  }

  async attemptsUsed(reference: string): Promise<number> {
    const { rows } = await this.witness.query<{ used: number }>(
      `SELECT sum(retry_count)::int AS used FROM pgboss.job WHERE name = $1 AND data->'data'->>'reference' = $2`,
      [this.place.queue, reference],
    );
    return rows[0]!.used;
  }

  /** The rest goes with the database. */
  async remove(): Promise<void> {
    await this.boss.stop();
    await this.witness.end();
  }

  private async references(condition: string, queue: string): Promise<string[]> {
    const { rows } = await this.witness.query<{ reference: string }>(
      `SELECT data->'data'->>'reference' AS reference FROM pgboss.job WHERE ${condition}`,
      [queue],
    );
    return rows.map(({ reference }) => reference);
  }
}
