import { AsyncLocalStorage } from 'node:async_hooks';
const level = new AsyncLocalStorage();
export class NestedTransactions {
    constructor() {
        this.outermost = { owner: this, last: Promise.resolve() };
    }
    run(transaction) {
        const around = level.getStore();
        const parent = around?.owner === this ? around : this.outermost;
        const own = { owner: this, last: Promise.resolve() };
        const running = parent.last.then(() => level.run(own, transaction));
        parent.last = running.catch(() => undefined);
        return running;
    }
}
