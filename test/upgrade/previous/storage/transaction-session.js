import { randomUUID } from 'node:crypto';
import { decide } from '../core/decision.js';
import { workBroken } from '../core/errors.js';
import { takeRecord, writeRecord } from './locked-record.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { toRecord } from './record-row.js';
import { awaitingBeginStatement, lockingBeginStatement } from './statements.js';
import { WorkTransaction } from './work-transaction.js';
export class TransactionSession {
    constructor(connection, isolation, lock, report) {
        this.connection = connection;
        this.isolation = isolation;
        this.lock = lock;
        this.report = report;
        this.fingerprint = Buffer.of();
        this.claimed = null;
        this.work = null;
        this.isContested = false;
    }
    async claim(fingerprint) {
        this.fingerprint = fingerprint;
        return this.take(randomUUID());
    }
    async read() {
        const { found } = this;
        this.found = undefined;
        return found === undefined ? toRecord(await this.connection.read()) : found;
    }
    async begin({ token }) {
        const { fingerprint } = this;
        const connection = this.claimed ?? (await this.takeAgain(token));
        this.claimed = null;
        this.isContested = false;
        this.work = null;
        this.work = await WorkTransaction.begin(connection, this.report, {
            open: () => Promise.resolve(),
            record: async (answer) => {
                const isRecorded = await writeRecord(this.connection, { connection, token, fingerprint }, answer);
                this.isContested = !isRecorded;
                return isRecorded;
            },
        });
        return this.work;
    }
    async release({ token }) {
        if (this.claimed) {
            await this.undo();
            return true;
        }
        if (!this.work?.isUndone)
            return this.isFreeOf(await this.outlast(), token);
        return !this.isContested || this.isFreeOf(await this.read(), token);
    }
    rest() {
    }
    intend() {
        return Promise.reject(stepsNeedALease());
    }
    withdraw() {
        return Promise.reject(stepsNeedALease());
    }
    finish() {
        return Promise.reject(stepsNeedALease());
    }
    close() {
        if (this.claimed)
            void this.undo().then(() => this.connection.close());
        else
            this.connection.close();
    }
    async take(token) {
        const { isolation, lock, fingerprint } = this;
        const { leaseMs } = this.connection.attempt;
        const connection = await this.connection.unused();
        this.claimed = connection;
        this.found = undefined;
        try {
            const locking = connection.command(lockingBeginStatement({ isolation, token, leaseMs, lock }));
            if (!connection.isPipelined)
                await locking;
            const taking = takeRecord(this.connection, isolation, { connection, token, fingerprint });
            const [{ rowCount }, { attempts, found }] = await Promise.all([locking, taking]);
            if (rowCount === 1 && attempts !== null)
                return { token, attempts, hasSteps: false, heldBy: 'transaction' };
            await this.undo();
            this.found = found;
            return rowCount === 1 ? 'held' : 'busy';
        }
        catch (error) {
            await this.undo();
            if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error))
                return 'held';
            throw error;
        }
    }
    async takeAgain(token) {
        if (typeof (await this.take(token)) === 'object')
            return this.claimed;
        this.isContested = true;
        throw new Error('Another attempt took the operation when the work of this one had been undone.');
    }
    async outlast() {
        const connection = await this.connection.usable();
        try {
            await connection.command(awaitingBeginStatement(this.lock, this.connection.attempt.leaseMs));
            return toRecord(await this.connection.read());
        }
        finally {
            await connection.rollBack(this.report);
        }
    }
    isFreeOf(record, token) {
        return record?.token !== token && decide(record, this.connection.attempt).kind === 'claimable';
    }
    async undo() {
        const { claimed } = this;
        this.claimed = null;
        await claimed?.rollBack(this.report);
    }
}
function stepsNeedALease() {
    return workBroken("Steps need a claim that is committed before the work: `claim: 'lease'`.");
}
