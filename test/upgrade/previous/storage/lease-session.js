import { randomUUID } from 'node:crypto';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { toRecord } from './record-row.js';
import { beginStatement, interval } from './statements.js';
import { WorkTransaction } from './work-transaction.js';
const MAX_RELEASES = 3;
export class LeaseSession {
    constructor(connection, stepStatements, report) {
        this.connection = connection;
        this.stepStatements = stepStatements;
        this.report = report;
        this.hasSteps = false;
    }
    async claim(fingerprint) {
        const { leaseMs, retentionMs } = this.connection.attempt;
        const token = randomUUID();
        const terms = [interval(leaseMs), interval(retentionMs)];
        try {
            const { rows } = await this.connection.run('claim', fingerprint, token, ...terms);
            if (!rows[0])
                return 'held';
            const { attempts, has_steps: hasSteps } = rows[0];
            this.hasSteps = hasSteps;
            return { token, attempts, hasSteps, heldBy: 'row' };
        }
        catch (error) {
            if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error))
                return 'held';
            this.forget(token);
            throw error;
        }
    }
    async read() {
        return toRecord(await this.connection.read());
    }
    async begin({ token }) {
        const { attempt, identity, statements } = this.connection;
        const connection = await this.connection.unused();
        return WorkTransaction.begin(connection, this.report, {
            open: () => connection.command(beginStatement(token, attempt.leaseMs)),
            record: async (answer) => {
                const claim = [...identity, token];
                const forgotten = this.hasSteps ? connection.run(this.stepStatements.forget, claim) : undefined;
                if (!connection.isPipelined)
                    await forgotten;
                const recorded = connection.run(statements.record, [...claim, ...answer]);
                const [{ rowCount }] = await Promise.all([recorded, forgotten]);
                return rowCount === 1;
            },
        });
    }
    async release({ token, attempts }, afterMs = 0) {
        const { countedTries = null } = this.connection.attempt;
        const isCounted = countedTries !== null && attempts < countedTries;
        for (let tries = 1;; tries++) {
            try {
                const released = this.hasSteps || isCounted
                    ? await this.runStep('clear', token, countedTries, interval(afterMs))
                    : await this.connection.run('release', token);
                return released.rowCount === 1;
            }
            catch (error) {
                if (!isConflict(error) || tries === MAX_RELEASES)
                    throw error;
            }
        }
    }
    rest() {
        this.connection.rest();
    }
    async intend({ token }, { step, providerKey, leaseMs }) {
        this.hasSteps = true;
        const { rows } = await this.runStep('intend', token, step, providerKey, interval(leaseMs));
        return rows[0] ? { providerKey: rows[0].provider_key, tries: rows[0].tries, result: rows[0].result } : null;
    }
    async withdraw({ token }, step) {
        return (await this.runStep('withdraw', token, step)).rowCount === 1;
    }
    async finish({ token }, step, result) {
        return (await this.runStep('finish', token, step, result)).rowCount === 1;
    }
    close() {
        this.connection.close();
    }
    async runStep(name, ...values) {
        const connection = await this.connection.usable();
        return connection.run(this.stepStatements[name], [...this.connection.identity, ...values]);
    }
    forget(token) {
        void this.connection
            .another()
            .then((connection) => new LeaseSession(connection, this.stepStatements, this.report))
            .then((session) => session.release({ token, attempts: 0, hasSteps: false, heldBy: 'row' }).finally(() => session.close()))
            .catch((error) => this.report('A claim whose answer was lost could not be released.', error));
    }
}
