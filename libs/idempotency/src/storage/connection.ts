import type { PoolClient, QueryResult, QueryResultRow } from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';

import type { Report } from '../core/ports.js';
import { isConnectionLost } from './postgres-errors.js';
import type { Statement } from './statements.js';

export interface ConnectionOptions {
  /** How long to wait for a free connection of the pool, in milliseconds. */
  readonly acquireTimeoutMs: number;
  /** How long one of our own statements may take, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** Whether statements are prepared once per connection; older poolers cannot carry them. */
  readonly areStatementsPrepared: boolean;
}

/** One connection of the application's pool, always to the primary. */
export class Connection {
  /** Whether its manager was given to a handler, whose late calls it has to go on refusing. */
  isHandedOut = false;
  private isDistrusted = false;
  /** As it was before the handler was given the runner, and forbidden to use it. */
  private readonly release: () => Promise<void>;
  private readonly query: PoolClient['query'];
  private unwatch: (() => void) | undefined;

  private constructor(
    readonly dataSource: DataSource,
    readonly runner: QueryRunner,
    private readonly client: PoolClient & { readonly pipeline?: boolean },
    private readonly options: ConnectionOptions,
  ) {
    this.release = runner.release.bind(runner);
    this.query = client.query.bind(client);
  }

  /** Takes a connection from the pool, or rejects when none comes free in time. */
  static async checkOut(dataSource: DataSource, options: ConnectionOptions): Promise<Connection> {
    const runner = dataSource.createQueryRunner('master');
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`No database connection came free within ${options.acquireTimeoutMs} ms.`));
      }, options.acquireTimeoutMs);
    });
    const connecting = runner.connect() as Promise<PoolClient>;
    try {
      return new Connection(dataSource, runner, await Promise.race([connecting, tooLate]), options);
    } catch (error) {
      connecting.then(
        () => runner.release(),
        () => undefined,
      );
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs one of the protocol's statements. */
  run<Row extends QueryResultRow>(statement: Statement, values: readonly unknown[]): Promise<QueryResult<Row>> {
    const { text, name } = statement;
    return this.send<Row>(this.options.areStatementsPrepared ? { name, text, values } : { text, values });
  }

  /** Sends plain text; the result is that of its last command. */
  async command(text: string): Promise<QueryResult> {
    const results: QueryResult | QueryResult[] = await this.send({ text });
    return Array.isArray(results) ? (results.at(-1) as QueryResult) : results;
  }

  /** Ends the transaction that is open on it; false where the server did not confirm that, and nobody is to use it again. */
  async rollBack(report: Report): Promise<boolean> {
    if (!this.isUsable) return false;
    try {
      await this.command('ROLLBACK');
      return true;
    } catch (error) {
      this.distrust();
      report('A rollback was not confirmed; its connection is closed, which rolls back as well.', error);
      return false;
    }
  }

  /** Shows the text of everything that others send on the connection, also past TypeORM, to `look`, which may throw. */
  watch(look: (text: string) => void): void {
    const own = Object.getOwnPropertyDescriptor(this.client, 'query');
    const query = this.query as (...args: unknown[]) => unknown;
    const watched = (...args: unknown[]): unknown => {
      look(textOf(args[0]));
      return query(...args);
    };
    Object.defineProperty(this.client, 'query', { value: watched, configurable: true, writable: true });
    this.unwatch = () => {
      Reflect.deleteProperty(this.client, 'query');
      if (own) Object.defineProperty(this.client, 'query', own);
    };
  }

  /** Whether it can still be used: its server answered, and its state is known. */
  get isUsable(): boolean {
    return !this.isDistrusted && !this.runner.isReleased;
  }

  /** Whether a statement may be sent before the last one is answered. */
  get isPipelined(): boolean {
    return this.client.pipeline === true;
  }

  /** Its state is not known: nobody is to use it again. */
  distrust(): void {
    this.isDistrusted = true;
  }

  /** Gives the connection back, or has the pool replace it where its state is not known. */
  close(): void {
    if (this.runner.isReleased) return;
    this.unwatch?.();
    if (this.isDistrusted) void this.client.end().catch(() => undefined);
    void this.release();
  }

  private async send<Row extends QueryResultRow>(query: {
    name?: string;
    text: string;
    values?: readonly unknown[];
  }): Promise<QueryResult<Row>> {
    try {
      return await this.query<Row>({ ...query, query_timeout: this.options.statementTimeoutMs } as never);
    } catch (error) {
      if (isConnectionLost(error)) this.distrust();
      throw error;
    }
  }
}

/** The text of a query in any form the driver takes: text, options, or an object that submits itself. */
function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  const { text, cursor } = query as { readonly text?: unknown; readonly cursor?: unknown };
  if (typeof text === 'string') return text;
  return cursor === undefined ? '' : textOf(cursor);
}
