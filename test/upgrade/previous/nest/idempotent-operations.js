var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
var __param = (this && this.__param) || function (paramIndex, decorator) {
    return function (target, key) { decorator(target, key, paramIndex); }
};
import { Inject, Injectable } from '@nestjs/common';
import { providerKey } from '../core/provider-key.js';
import { Reconciliation } from './reconciliation.js';
import { BACKLOG, EXECUTOR, SETTINGS, SWEEPER } from './tokens.js';
const LEASE_MS = 30_000;
const RETENTION_MS = 24 * 60 * 60 * 1000;
let IdempotentOperations = class IdempotentOperations {
    constructor(backlog, executor, settings, sweeper, reconciliation) {
        this.backlog = backlog;
        this.executor = executor;
        this.settings = settings;
        this.sweeper = sweeper;
        this.reconciliation = reconciliation;
    }
    reconcile() {
        return this.reconciliation.reconcileDue();
    }
    sweep() {
        return this.sweeper.sweepDue();
    }
    async resolve(operation, step, outcome) {
        const found = await this.backlog.find(operation, step);
        if (!found)
            return 'not_found';
        const attempt = { ...found, strategy: { kind: 'lease' }, leaseMs: LEASE_MS, retentionMs: RETENTION_MS };
        const arrival = await this.executor.arrive(attempt);
        if (arrival.kind !== 'claimed')
            return arrival.kind === 'in_progress' ? 'in_progress' : 'not_found';
        const { execution } = arrival;
        try {
            const secret = this.settings.providerKeySecret ?? '';
            const key = providerKey(secret, operation, found.fingerprint, step);
            return (await execution.steps.resolve(step, key, resultOf(outcome))) ? null : 'not_found';
        }
        finally {
            await execution.settle({ kind: 'release' });
        }
    }
};
IdempotentOperations = __decorate([
    Injectable(),
    __param(0, Inject(BACKLOG)),
    __param(1, Inject(EXECUTOR)),
    __param(2, Inject(SETTINGS)),
    __param(3, Inject(SWEEPER)),
    __metadata("design:paramtypes", [Object, Function, Object, Function, Reconciliation])
], IdempotentOperations);
export { IdempotentOperations };
function resultOf(outcome) {
    switch (outcome.kind) {
        case 'happened':
            return { kind: 'succeeded', value: outcome.value };
        case 'refused':
            return { kind: 'refused', message: outcome.message, details: outcome.details };
        case 'did_not_happen':
            return null;
    }
}
