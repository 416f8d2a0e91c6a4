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
import { workBroken } from '../core/errors.js';
import { checkedKey } from '../core/key.js';
import { messageIdOf } from '../messaging/message-id.js';
import { payloadFingerprint } from '../messaging/payload-fingerprint.js';
import { currentAttempt } from './attempt-context.js';
import { messageOptions, operationOptions } from './operation-request.js';
import { consumerSettings, endpointSettings } from './settings.js';
import { Tenants } from './tenants.js';
import { CONSUMPTION, OPERATION_RUNS, OPTIONS } from './tokens.js';
let IdempotencyService = class IdempotencyService {
    constructor(runs, consumption, options, tenants) {
        this.runs = runs;
        this.consumption = consumption;
        this.options = options;
        this.tenants = tenants;
    }
    async run(request, work) {
        const settings = endpointSettings(this.options, operationOptions(request));
        const outer = runningOperation();
        if (outer) {
            if (!request.join)
                throw nested('run');
            return { kind: 'executed', value: await work(outer) };
        }
        this.assertSteps(settings);
        const attempt = this.attempt(request, request.key, settings);
        const handled = await this.runs.handle(attempt, settings, work, request.signal);
        if ('value' in handled)
            return handled;
        throw handled.error;
    }
    async consume(message, work) {
        const settings = consumerSettings(this.options, messageOptions(message));
        if (runningOperation())
            throw nested('consume');
        this.assertSteps(settings);
        const identify = () => this.attempt(message, message.key ?? messageIdOf(message), settings);
        return this.consumption.consume({ endpoint: message.endpoint, settings }, identify, work);
    }
    async consumeAll(messages, work) {
        const settlements = [];
        for (const message of messages) {
            settlements.push(await this.consume(message, (operation) => work(message, operation)));
        }
        return settlements;
    }
    attempt({ tenant, endpoint, payload }, key, { strategy, leaseMs, retentionMs }) {
        const operation = { tenant: this.tenants.named(tenant), endpoint, key: checkedKey(key) };
        return { operation, fingerprint: payloadFingerprint(payload), strategy, leaseMs, retentionMs };
    }
    assertSteps({ isManual, strategy }) {
        if (!isManual)
            return;
        if (strategy.kind === 'transaction')
            throw new Error("IdempotencyService: steps need `claim: 'lease'`.");
        if (this.options.providerKeySecret === undefined) {
            throw new Error("IdempotencyService: `transaction: 'manual'` makes steps. Set `providerKeySecret` in " +
                'IdempotencyModule.forRoot(), to derive their keys with.');
        }
    }
};
IdempotencyService = __decorate([
    Injectable(),
    __param(0, Inject(OPERATION_RUNS)),
    __param(1, Inject(CONSUMPTION)),
    __param(2, Inject(OPTIONS)),
    __metadata("design:paramtypes", [Function, Function, Object, Tenants])
], IdempotencyService);
export { IdempotencyService };
function runningOperation() {
    const attempt = currentAttempt();
    return attempt?.handle && !attempt.isOver ? attempt.handle : undefined;
}
function nested(method) {
    const remedy = method === 'run' ? 'Make it a part of that with `join: true`, or call' : 'Call';
    return workBroken(`IdempotencyService.${method}() was called inside a running operation: it would hold a second connection, and ` +
        `commit although the outer one may not. ${remedy} it when that is over.`);
}
