import { AsyncLocalStorage } from 'node:async_hooks';
const storage = new AsyncLocalStorage();
export function runInAttempt(attempt, run) {
    return storage.run(attempt, run);
}
export function runOutsideAttempts(run) {
    return storage.exit(run);
}
export function currentAttempt() {
    return storage.getStore();
}
export function openManager({ manager }) {
    return manager ?? noOpenManager();
}
export function noOpenManager() {
    throw new Error("The handler opens its transaction itself (transaction: 'manual'), and none is open now. " +
        'Write inside `operation.commit((manager) => …)`.');
}
