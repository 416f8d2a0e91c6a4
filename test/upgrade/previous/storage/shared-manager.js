import { workBroken } from '../core/errors.js';
import { NestedTransactions } from './nested-transactions.js';
import { isConflict } from './postgres-errors.js';
import { controlsTransaction } from './transaction-control.js';
const TYPEORM_SAVEPOINT = /^(SAVEPOINT|RELEASE SAVEPOINT|ROLLBACK TO SAVEPOINT) (typeorm_\d+)$/;
export class SharedManager {
    constructor(runner, begin) {
        this.runner = runner;
        this.begin = begin;
        this.metConflict = false;
        this.phase = 'opening';
        this.inFlight = 0;
        this.onQuiet = [];
        this.openSavepoints = new Set();
        this.manager = runner.manager;
        const query = runner.query.bind(runner);
        const stream = runner.stream.bind(runner);
        runner.query = ((...args) => this.admit(String(args[0]), () => query(...args)));
        runner.stream = (...args) => this.admit(args[0], () => stream(...args));
        runner.release = () => Promise.reject(this.blame(release()));
        const { manager } = this;
        const transaction = manager.transaction.bind(manager);
        const nested = new NestedTransactions();
        manager.transaction = (...args) => nested.run(() => transaction(...args));
    }
    get fault() {
        return this.firstFault;
    }
    forbidControl(text) {
        if (this.phase !== 'opening' && controlsTransaction(text))
            throw this.blame(control());
    }
    async open() {
        await this.runner.startTransaction();
        this.phase = 'open';
    }
    interject(send) {
        if (this.inFlight > 0 || this.speaking)
            return;
        this.speaking = send()
            .catch(() => undefined)
            .finally(() => (this.speaking = undefined));
    }
    async close() {
        this.phase = 'closed';
        await this.speaking;
        if (this.inFlight > 0)
            await new Promise((resolve) => this.onQuiet.push(resolve));
        if (this.openSavepoints.size > 0)
            this.blame(openTransaction());
    }
    async admit(text, send) {
        if (this.phase === 'closed')
            throw this.blame(lateQuery());
        if (this.phase === 'opening') {
            if (text === 'START TRANSACTION')
                return (await this.begin());
            if (text.startsWith('SET TRANSACTION ISOLATION LEVEL'))
                return undefined;
        }
        this.forbidControl(text);
        const savepoint = TYPEORM_SAVEPOINT.exec(text);
        if (savepoint?.[1] === 'SAVEPOINT')
            this.openSavepoints.add(savepoint[2]);
        this.inFlight++;
        try {
            if (this.speaking)
                await this.speaking;
            return await send();
        }
        catch (error) {
            this.metConflict ||= isConflict(error);
            throw error;
        }
        finally {
            if (savepoint && savepoint[1] !== 'SAVEPOINT')
                this.openSavepoints.delete(savepoint[2]);
            this.inFlight--;
            if (this.inFlight === 0)
                for (const resolve of this.onQuiet.splice(0))
                    resolve();
        }
    }
    blame(fault) {
        this.firstFault ??= fault;
        return fault;
    }
}
function control() {
    return workBroken('The handler tried to begin, commit or roll back the transaction that the library holds for it. ' +
        'Throw to roll back, return to commit; use `manager.transaction()` for a part that may fail on its own.');
}
function release() {
    return workBroken('The handler tried to release the connection that the library holds for it. Just return.');
}
function openTransaction() {
    return workBroken('The handler returned while a nested transaction was still open. Await every `manager.transaction()`.');
}
function lateQuery() {
    return workBroken('A query was made through the shared manager after the work was over; it was not sent. ' +
        'Await every query before the handler returns or writes its answer.');
}
