import { DataSource } from 'typeorm';
import { Connection } from './connection.js';
import { interval, statementsFor } from './statements.js';
import { recordNames } from './table-names.js';
const MIN_TIMEOUT_MS = 100;
export class PostgresRenewal {
    constructor(dataSource, timeoutMs) {
        this.dataSource = dataSource;
        this.timeoutMs = timeoutMs;
        this.isClosed = false;
        this.statements = statementsFor(recordNames(dataSource));
    }
    async renew({ operation, claim, leaseMs }) {
        if (claim.heldBy === 'transaction')
            return true;
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
        }
        finally {
            connection.close();
        }
    }
    async close() {
        this.isClosed = true;
        await this.connecting?.then((connection) => connection.destroy(), () => undefined);
    }
    pool() {
        if (this.isClosed)
            return Promise.reject(new Error('The application has shut down.'));
        this.connecting ??= this.connect().catch((error) => {
            this.connecting = undefined;
            throw error;
        });
        return this.connecting;
    }
    connect() {
        const { extra, ...options } = this.dataSource.options;
        return new DataSource({
            ...options,
            type: 'postgres',
            poolSize: 1,
            extra: { ...extra, max: 1, connectionTimeoutMillis: this.timeoutMs },
            entities: [],
            subscribers: [],
            migrations: [],
            synchronize: false,
            dropSchema: false,
            migrationsRun: false,
        }).initialize();
    }
}
