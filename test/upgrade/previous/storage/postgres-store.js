import { AttemptConnection } from './attempt-connection.js';
import { LeaseSession } from './lease-session.js';
import { lockOf } from './operation-lock.js';
import { statementsFor } from './statements.js';
import { stepStatementsFor } from './step-statements.js';
import { recordNames, stepNames } from './table-names.js';
import { TransactionSession } from './transaction-session.js';
export class PostgresStore {
    constructor(dataSource, options, report) {
        this.dataSource = dataSource;
        this.options = options;
        this.report = report;
        const names = recordNames(dataSource);
        this.table = names.table;
        this.statements = statementsFor(names);
        this.stepStatements = stepStatementsFor(names, stepNames(dataSource));
    }
    async open(attempt) {
        const { operation, strategy } = attempt;
        const connection = await AttemptConnection.open(this.dataSource, this.options, this.statements, attempt);
        switch (strategy.kind) {
            case 'lease':
                return new LeaseSession(connection, this.stepStatements, this.report);
            case 'transaction':
                return new TransactionSession(connection, strategy.isolation, lockOf(this.table, operation), this.report);
        }
    }
}
