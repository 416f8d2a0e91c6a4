import { workBroken } from '../core/errors.js';
export class HandlerRun {
    constructor(owner, execution, handle, wrapper, onEnter) {
        this.owner = owner;
        this.execution = execution;
        this.handle = handle;
        this.wrapper = wrapper;
        this.onEnter = onEnter;
        this.isEntered = false;
    }
    enter(wrapper) {
        if (wrapper !== this.wrapper)
            return;
        if (this.isEntered) {
            throw workBroken('The handler was run twice in one transaction. Remove the interceptor that does so, or move it outside: before ' +
                'IdempotencyModule, as APP_INTERCEPTOR.');
        }
        this.onEnter?.();
        this.isEntered = true;
    }
    get operation() {
        return this.execution.attempt.operation;
    }
    get manager() {
        return this.handle.openManager;
    }
    get isOver() {
        return this.handle.isOver;
    }
    get signal() {
        return this.execution.signal;
    }
    afterCommit(callback) {
        this.handle.afterCommit(callback);
    }
}
