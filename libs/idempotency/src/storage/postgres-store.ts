import type { DataSource, EntityManager } from 'typeorm';

import type { Attempt } from '../core/attempt.js';
import type { Report, Session, Store } from '../core/ports.js';
import { about } from '../core/report.js';
import { AttemptConnection } from './attempt-connection.js';
import type { ConnectionOptions } from './connection.js';
import { LeaseSession } from './lease-session.js';
import { lockOf } from './operation-lock.js';
import { statementsFor, type Statements } from './statements.js';
import { stepStatementsFor, type StepStatements } from './step-statements.js';
import { recordNames, stepNames } from './table-names.js';
import { TransactionSession } from './transaction-session.js';

/** Records and work on one PostgreSQL, through the application's own TypeORM data source. */
export class PostgresStore implements Store<EntityManager> {
  private readonly table: string;
  private readonly statements: Statements;
  private readonly stepStatements: StepStatements;

  constructor(
    private readonly dataSource: DataSource,
    private readonly options: ConnectionOptions,
    private readonly report: Report,
  ) {
    const names = recordNames(dataSource);
    this.table = names.table;
    this.statements = statementsFor(names);
    this.stepStatements = stepStatementsFor(names, stepNames(dataSource));
  }

  async open(attempt: Attempt): Promise<Session<EntityManager>> {
    const { operation, strategy } = attempt;
    const connection = await AttemptConnection.open(this.dataSource, this.options, this.statements, attempt);
    const report = about(this.report, operation);
    switch (strategy.kind) {
      case 'lease':
        return new LeaseSession(connection, this.stepStatements, report);
      case 'transaction':
        return new TransactionSession(connection, strategy.isolation, lockOf(this.table, operation), report);
    }
  }
}
