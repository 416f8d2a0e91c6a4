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
import { ModulesContainer } from '@nestjs/core';
import { isObservable, tap } from 'rxjs';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { HOLDS, REPORT } from '../tokens.js';
import { patternsOf } from './handler-metadata.js';
import { isTakenOver, settlingOf } from './rabbitmq.delivery.js';
import { hasDeadLetters, isRabbitMq, rpcServers } from './rpc-servers.js';
const REFUSED_RETRY_MS = 5_000;
let RefusedMessages = class RefusedMessages {
    constructor(modules, handlers, holds, report) {
        this.handlers = handlers;
        this.holds = holds;
        this.report = report;
        rpcServers(modules).subscribe((server) => {
            if (isRabbitMq(server))
                this.watch(server);
        });
    }
    watch(server) {
        const addHandler = server.addHandler.bind(server);
        server.addHandler = (pattern, handler, ...rest) => addHandler(pattern, this.isOurs(pattern) ? this.watched(server, handler) : handler, ...rest);
    }
    isOurs(pattern) {
        const asText = JSON.stringify(pattern);
        return [...this.handlers.all()].some(({ handler }) => idempotentMark(handler) !== undefined && patternsOf(handler).includes(asText));
    }
    watched(server, handler) {
        return new Proxy(handler, {
            apply: (target, self, args) => this.handle(server, args.at(-1), () => Reflect.apply(target, self, args)),
        });
    }
    async handle(server, context, handle) {
        const settling = settlingOf(context);
        const onError = (error) => {
            if (!isTakenOver(context) && !settling.isDone)
                void this.settle(server, settling, error);
        };
        try {
            const result = await handle();
            return isObservable(result) ? result.pipe(tap({ error: onError })) : result;
        }
        catch (error) {
            onError(error);
            throw error;
        }
    }
    async settle(server, settling, error) {
        this.report('A message was refused before its handler could be called.', error);
        if (hasDeadLetters(server))
            return settling.deadLetter();
        await this.holds.hold(REFUSED_RETRY_MS);
        if (!this.holds.isClosing)
            settling.giveBack();
    }
};
RefusedMessages = __decorate([
    Injectable(),
    __param(2, Inject(HOLDS)),
    __param(3, Inject(REPORT)),
    __metadata("design:paramtypes", [ModulesContainer,
        Handlers, Function, Function])
], RefusedMessages);
export { RefusedMessages };
