var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Injectable } from '@nestjs/common';
import { ApplicationConfig, ModulesContainer } from '@nestjs/core';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { isPatternHandler } from './handler-metadata.js';
import { hasDeadLetters, isRabbitMq, rpcServers } from './rpc-servers.js';
let MicroserviceCheck = class MicroserviceCheck {
    constructor(modules, config, handlers) {
        this.handlers = handlers;
        this.servers = [];
        this.foreign = new Set();
        const questions = new Questions(config);
        rpcServers(modules).subscribe((server) => {
            this.servers.push(server);
            this.watch(server, questions);
        });
    }
    get hasForeign() {
        return this.foreign.size > 0;
    }
    get usesRabbitMq() {
        return this.rabbitServers().length > 0;
    }
    queuesWithoutDeadLetters() {
        return this.rabbitServers()
            .filter((server) => !hasDeadLetters(server))
            .map(nameOf);
    }
    assertAcknowledges(server) {
        if (!isRabbitMq(server) || server.noAck === false || !this.hasConsumers())
            return;
        throw new Error(`@Idempotent() cannot protect messages of ${nameOf(server)}: RabbitMQ takes them for done when they are ` +
            "delivered (noAck: true, which is Nest's default). Set `noAck: false` in the options of the transport.");
    }
    hasConsumers() {
        return [...this.handlers.all()].some(({ handler }) => idempotentMark(handler) && isPatternHandler(handler));
    }
    rabbitServers() {
        return this.servers.filter(isRabbitMq);
    }
    watch(server, questions) {
        const addHandler = server.addHandler.bind(server);
        let { asked } = questions;
        let hasAsked = false;
        server.addHandler = (...args) => {
            this.assertAcknowledges(server);
            hasAsked ||= questions.asked > asked;
            ({ asked } = questions);
            if (hasAsked)
                this.foreign.delete(server);
            else
                this.foreign.add(server);
            return addHandler(...args);
        };
    }
};
MicroserviceCheck = __decorate([
    Injectable(),
    __metadata("design:paramtypes", [ModulesContainer,
        ApplicationConfig,
        Handlers])
], MicroserviceCheck);
export { MicroserviceCheck };
class Questions {
    constructor(config) {
        this.asked = 0;
        const ask = config.getGlobalInterceptors.bind(config);
        config.getGlobalInterceptors = () => {
            this.asked++;
            return ask();
        };
    }
}
function nameOf({ options }) {
    return options?.queue ?? 'the default queue';
}
