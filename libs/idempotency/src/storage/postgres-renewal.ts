import { DataSource } from 'typeorm';

import type { Lease, LeaseRenewal } from '../core/ports.js';
import { interval, statementsFor, type Statements } from './statements.js';
import { recordNames } from './table-names.js';

/**
 * Renews leases on a connection of its own.
 *
 * The work's pool will not do: it is exhausted just when handlers are slow, and then every renewal comes too late.
 * The connection is made when the first lease grows old, so an application of quick handlers never has it.
 */
export class PostgresRenewal implements LeaseRenewal {
  private readonly statements: Statements;
  private connecting: Promise<DataSource> | undefined;
  private isClosed = false;

  constructor(private readonly dataSource: DataSource) {
    this.statements = statementsFor(recordNames(dataSource));
  }

  async renew({ operation, claim, leaseMs }: Lease): Promise<boolean> {
    const connection = await this.connection();
    const [, count] = await connection.query<[unknown, number]>(this.statements.renew.text, [
      operation.tenant,
      operation.endpoint,
      operation.key,
      claim.token,
      interval(leaseMs),
    ]);
    return count === 1;
  }

  /** Ends the connection; a renewal that comes later is rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.connecting?.then(
      (connection) => connection.destroy(),
      () => undefined,
    );
  }

  private connection(): Promise<DataSource> {
    if (this.isClosed) return Promise.reject(new Error('The application has shut down.'));
    this.connecting ??= this.connect().catch((error: unknown) => {
      this.connecting = undefined;
      throw error;
    });
    return this.connecting;
  }

  private connect(): Promise<DataSource> {
    const { extra, ...options } = this.dataSource.options as { extra?: Record<string, unknown> };
    return new DataSource({
      ...options,
      type: 'postgres',
      poolSize: 1,
      extra: { ...extra, max: 1 },
      entities: [],
      subscribers: [],
      migrations: [],
      synchronize: false,
      dropSchema: false,
      migrationsRun: false,
    }).initialize();
  }
}
