var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
import { Injectable } from '@nestjs/common';
import { currentAttempt, openManager } from './attempt-context.js';
let IdempotencyContext = class IdempotencyContext {
    get isActive() {
        return currentAttempt() !== undefined;
    }
    get manager() {
        return openManager(this.attempt);
    }
    get operation() {
        return this.attempt.operation;
    }
    get signal() {
        return this.attempt.signal;
    }
    afterCommit(callback) {
        this.attempt.afterCommit(callback);
    }
    get attempt() {
        const attempt = currentAttempt();
        if (!attempt) {
            throw new Error('IdempotencyContext was used outside an idempotent operation. Is the handler decorated with @Idempotent(), ' +
                'and does this code run before it returns?');
        }
        return attempt;
    }
};
IdempotencyContext = __decorate([
    Injectable()
], IdempotencyContext);
export { IdempotencyContext };
