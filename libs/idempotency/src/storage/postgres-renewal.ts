import type { DataSource } from 'typeorm';

import type { Lease, LeaseRenewal } from '../core/ports.js';
import { Connection } from './connection.js';
import { openOwnConnection } from './own-connection.js';
import { interval, statementsFor, type Statements } from './statements.js';
import { recordNames } from './table-names.js';

/** Below this a slow answer cannot be told from silence. */
const MIN_TIMEOUT_MS = 100;

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

  constructor(
    private readonly dataSource: DataSource,
    private readonly timeoutMs: number,
  ) {
    this.statements = statementsFor(recordNames(dataSource));
  }

  async renew({ operation, claim, leaseMs }: Lease): Promise<boolean> {
    // Its own transaction holds it, for as long as that lives: there is no row to renew.
    if (claim.heldBy === 'transaction') return true;
    // A connection that is silent for so long is replaced, while half of the lease is left to try again.
    const timeoutMs = Math.min(this.timeoutMs, Math.max(leaseMs / 6, MIN_TIMEOUT_MS));
    const connection = await Connection.checkOut(await this.pool(), {
      acquireTimeoutMs: timeoutMs,
      statementTimeoutMs: timeoutMs,
      areStatementsPrepared: false,
    });
    try {
      const { tenant, endpoint, key } = operation;
      const values = [tenant, endpoint, key, claim.token, interval(leaseMs)];
      return (await connection.run(this.statements.renew, values)).rowCount === 1;
    } finally {
      connection.close();
    }
  }

  /** Ends the connection; a renewal that comes later is rejected. */
  async close(): Promise<void> {
    this.isClosed = true;
    await this.connecting?.then(
      (connection) => connection.destroy(),
      () => undefined,
    );
  }

  private pool(): Promise<DataSource> {
    if (this.isClosed) return Promise.reject(new Error('The application has shut down.'));
    this.connecting ??= openOwnConnection(this.dataSource, { connectionTimeoutMillis: this.timeoutMs }).catch(
      (error: unknown) => {
        this.connecting = undefined;
        throw error;
      },
    );
    return this.connecting;
  }
}
