import type { QueryResult, QueryResultRow } from 'pg';
import type { DataSource } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import { Connection, type ConnectionOptions } from './connection.js';
import type { RecordRow } from './record-row.js';
import type { Statements } from './statements.js';

/** One attempt's way to its record: a connection, exchanged for another one when it can no longer be used. */
export class AttemptConnection {
  private constructor(
    private current: Connection,
    private readonly dataSource: DataSource,
    private readonly options: ConnectionOptions,
    readonly statements: Statements,
    readonly attempt: Attempt,
  ) {}

  static async open(
    dataSource: DataSource,
    options: ConnectionOptions,
    statements: Statements,
    attempt: Attempt,
  ): Promise<AttemptConnection> {
    const connection = await Connection.checkOut(dataSource, options);
    return new AttemptConnection(connection, dataSource, options, statements, attempt);
  }

  /** The same way by a connection of its own. */
  another(): Promise<AttemptConnection> {
    return AttemptConnection.open(this.dataSource, this.options, this.statements, this.attempt);
  }

  async usable(): Promise<Connection> {
    if (!this.current.isUsable) {
      this.current.close();
      this.current = await Connection.checkOut(this.dataSource, this.options);
    }
    return this.current;
  }

  /** One whose manager no handler has had: a manager that was handed out once stays closed for good. */
  async unused(): Promise<Connection> {
    if (this.current.isHandedOut) this.current.close();
    return this.usable();
  }

  /** The first three parameters of every statement. */
  get identity(): [string, string, string] {
    const { tenant, endpoint, key } = this.attempt.operation;
    return [tenant, endpoint, key];
  }

  /** Runs a statement about the attempt's operation. */
  async run<Row extends QueryResultRow>(name: keyof Statements, ...values: unknown[]): Promise<QueryResult<Row>> {
    return (await this.usable()).run<Row>(this.statements[name], [...this.identity, ...values]);
  }

  async read(): Promise<RecordRow | null> {
    return (await this.run<RecordRow>('read')).rows[0] ?? null;
  }

  /** Gives the connection back; the next one who needs one takes one. */
  rest(): void {
    this.current.close();
  }

  close(): void {
    this.current.close();
  }
}
