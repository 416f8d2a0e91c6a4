import { Injectable } from '@nestjs/common';
import { IdempotencyContext } from 'nestjs-idempotency';
import { Client } from 'pg';
import { DataSource, type EntityManager } from 'typeorm';
import { type Gate, gate } from './gate.js';

/** What every handler does before it answers: it writes one row, marked with the run of its request. */
@Injectable()
export class Ledger {
  private readonly entries = new Map<string, number>();
  private readonly arrivals = new Map<string, Gate>();
  private readonly exits = new Map<string, Gate>();

  constructor(private readonly manager: () => EntityManager) {}

  async write(run: string): Promise<void> {
    this.entries.set(run, this.entriesOf(run) + 1);
    await this.manager().query('INSERT INTO ledger (run) VALUES ($1)', [run]);
  }

  /** How many handlers have been entered for this run. */
  entriesOf(run: string): number {
    return this.entries.get(run) ?? 0;
  }

  /** Writes, and then waits until the test lets the run go on. */
  async writeAndWait(run: string): Promise<void> {
    await this.write(run);
    await this.wait(run);
  }

  async wait(run: string): Promise<void> {
    const exit = this.exitOf(run);
    this.arrivalOf(run).open();
    await exit.passed;
  }

  /** Resolves when a handler of this run waits. */
  arrived(run: string): Promise<void> {
    return this.arrivalOf(run).passed;
  }

  letGo(run: string): void {
    this.exitOf(run).open();
  }

  private arrivalOf(run: string): Gate {
    return gateIn(this.arrivals, run);
  }

  private exitOf(run: string): Gate {
    return gateIn(this.exits, run);
  }
}

function gateIn(gates: Map<string, Gate>, run: string): Gate {
  const found = gates.get(run) ?? gate();
  gates.set(run, found);
  return found;
}

/** Writes with the library through the shared transaction, and without it on its own. */
export const ledgerProvider = (isProtected: boolean) =>
  isProtected
    ? {
        provide: Ledger,
        inject: [IdempotencyContext],
        useFactory: (context: IdempotencyContext) => new Ledger(() => context.manager),
      }
    : { provide: Ledger, inject: [DataSource], useFactory: ({ manager }: DataSource) => new Ledger(() => manager) };

/** A record of the library, as another connection sees it. */
export interface RecordRow {
  readonly state: string;
  readonly status: number | null;
  readonly omitted: string | null;
  readonly hasBody: boolean;
}

/** Looks at the tables past the application, on a connection of its own. */
export class Witness {
  private constructor(private readonly client: Client) {}

  static async of(url: string): Promise<Witness> {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    return new Witness(client);
  }

  async query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    return (await this.client.query<Record<string, unknown>>(sql, values)).rows;
  }

  /** How many rows a run has committed. */
  async rowsOf(run: string): Promise<number> {
    const [row] = await this.query('SELECT count(*)::int AS count FROM ledger WHERE run = $1', [run]);
    return row!.count as number;
  }

  async recordOf(key: string): Promise<RecordRow | null> {
    const [row] = await this.query(
      `SELECT state, response_status AS status, response_omitted AS omitted, response_body IS NOT NULL AS "hasBody"
       FROM idempotency_records WHERE key = $1`,
      [key],
    );
    return (row as unknown as RecordRow | undefined) ?? null;
  }

  close(): Promise<void> {
    return this.client.end();
  }
}
