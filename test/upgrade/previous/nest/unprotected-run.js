import { lastValueFrom, of } from 'rxjs';
import { gaveWay, storeUnavailable } from '../core/errors.js';
import { Connection } from '../storage/connection.js';
import { isConflict } from '../storage/postgres-errors.js';
import { runInAttempt } from './attempt-context.js';
class UnprotectedRun {
    constructor(manager) {
        this.manager = manager;
        this.operation = null;
        this.handle = null;
        this.isOver = false;
        this.signal = new AbortController().signal;
        this.callbacks = [];
    }
    afterCommit(callback) {
        this.callbacks.push(callback);
    }
    enter() {
    }
}
export async function runUnprotected(dataSource, options, isolation, next, report) {
    const connection = await Connection.checkOut(dataSource, options).catch((error) => {
        throw storeUnavailable(error);
    });
    let run;
    try {
        const value = await connection.runner.manager.transaction(isolation, (manager) => {
            const begun = (run = new UnprotectedRun(manager));
            return runInAttempt(begun, () => lastValueFrom(next.handle(), { defaultValue: undefined }));
        });
        for (const callback of run?.callbacks ?? [])
            void callAfterCommit(callback, report);
        return of(value);
    }
    catch (error) {
        if (isConflict(error))
            throw gaveWay(error);
        throw run ? error : storeUnavailable(error);
    }
    finally {
        if (run)
            run.isOver = true;
        connection.close();
    }
}
async function callAfterCommit(callback, report) {
    try {
        await callback();
    }
    catch (error) {
        report('A callback registered with afterCommit() failed; the work itself is committed.', error);
    }
}
