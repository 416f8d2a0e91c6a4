import { storeUnavailable, workBroken } from '../core/errors.js';
import { IN_FAILED_TRANSACTION, isConnectionLost, sqlState } from './postgres-errors.js';
import { SharedManager } from './shared-manager.js';
export class WorkTransaction {
    constructor(connection, report, terms, shared) {
        this.connection = connection;
        this.report = report;
        this.terms = terms;
        this.shared = shared;
        this.isUndone = false;
    }
    static async begin(connection, report, terms) {
        const shared = new SharedManager(connection.runner, () => terms.open());
        connection.isHandedOut = true;
        connection.watch((text) => shared.forbidControl(text));
        try {
            await shared.open();
        }
        catch (error) {
            connection.distrust();
            throw error;
        }
        return new WorkTransaction(connection, report, terms, shared);
    }
    get tx() {
        return this.shared.manager;
    }
    get metConflict() {
        return this.shared.metConflict;
    }
    keepAlive() {
        this.shared.interject(() => this.connection.command('SELECT 1'));
    }
    async seal() {
        const { dataSource, runner } = this.connection;
        if (dataSource.subscribers.some((subscriber) => 'beforeTransactionCommit' in subscriber)) {
            await runner.broadcaster.broadcast('BeforeTransactionCommit');
        }
        await this.shared.close();
        if (this.shared.fault)
            throw this.shared.fault;
    }
    async record(recording) {
        const { status, headers, body, omitted, resource, keyId = null } = recording;
        try {
            return await this.terms.record([status, JSON.stringify(headers), body, omitted, resource, keyId]);
        }
        catch (error) {
            throw sqlState(error) === IN_FAILED_TRANSACTION ? swallowedError() : this.unconfirmed(error);
        }
    }
    async commit() {
        if (this.shared.fault)
            throw this.shared.fault;
        const { command } = await this.connection.command('COMMIT').catch((error) => {
            throw this.unconfirmed(error);
        });
        if (command !== 'COMMIT')
            throw swallowedError();
        this.connection.runner.broadcaster.broadcast('AfterTransactionCommit').catch((error) => {
            this.report('A subscriber failed after the commit; the work itself is committed.', error);
        });
    }
    async rollback() {
        await this.shared.close();
        this.isUndone = await this.connection.rollBack(this.report);
    }
    unconfirmed(error) {
        if (!isConnectionLost(error))
            return error;
        this.report('The store went away before it confirmed that work was committed.', error);
        return storeUnavailable(error);
    }
}
function swallowedError() {
    return workBroken('A query inside the transaction failed and its error was swallowed, so nothing can be committed. ' +
        'Let the error pass, or put what may fail into a `manager.transaction()` of its own.');
}
