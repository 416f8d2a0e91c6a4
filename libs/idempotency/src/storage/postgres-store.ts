import type { DataSource, EntityManager } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import type { Report, Session, Store } from '../core/ports.js';
import type { ConnectionOptions } from './connection.js';
import { LeaseSession } from './lease-session.js';
import { statementsFor, type Statements } from './statements.js';
import { recordNames } from './table-names.js';

/** Records and work on one PostgreSQL, through the application's own TypeORM data source. */
export class PostgresStore implements Store<EntityManager> {
  private readonly statements: Statements;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: ConnectionOptions,
    private readonly report: Report,
  ) {
    this.statements = statementsFor(recordNames(dataSource));
  }

  open(attempt: Attempt): Promise<Session<EntityManager>> {
    return LeaseSession.open(this.dataSource, this.options, this.statements, attempt, this.report);
  }
}
