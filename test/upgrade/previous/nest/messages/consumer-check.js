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
import ms from 'ms';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { isRoute } from '../route-metadata.js';
import { OPTIONS, SETTINGS } from '../tokens.js';
import { isBatchHandler, isEventHandler, isMessageHandler, isPatternHandler, isRabbitHandler, patternsOf, } from './handler-metadata.js';
import { MicroserviceCheck } from './microservice-check.js';
let ConsumerCheck = class ConsumerCheck {
    constructor(handlers, microservices, options, settings) {
        this.handlers = handlers;
        this.microservices = microservices;
        this.options = options;
        this.settings = settings;
    }
    *defects() {
        yield* this.namesakes();
        if (!this.microservices.usesRabbitMq)
            return;
        for (const { owner, name, handler } of this.consumers()) {
            if (!isEventHandler(handler) || !patternsOf(handler).some((pattern) => this.subscribers(pattern) > 1))
                continue;
            yield (`${owner.name}.${name}: another handler has the same pattern, and one delivery of RabbitMQ cannot be ` +
                'acknowledged by two. Give each a queue of its own');
        }
    }
    *namesakes() {
        const owners = new Map();
        for (const { owner, name, handler } of this.consumers()) {
            if (idempotentMark(handler).options.endpoint !== undefined)
                continue;
            const consumer = `${owner.name}.${name}`;
            const other = owners.get(consumer);
            owners.set(consumer, owner);
            if (other === undefined || other === owner)
                continue;
            yield `${consumer}: there are two consumers of this name, and they would be taken for one. Give each an \`endpoint\``;
        }
    }
    *warnings(endpoints) {
        const consumers = this.consumers();
        yield* this.warningsOnMicroservices(consumers.filter(({ handler }) => isPatternHandler(handler)));
        const { redeliveryHorizonMs = 0 } = this.settings;
        for (const { owner, name, handler } of consumers) {
            const { retentionMs } = endpoints.of(owner, handler, idempotentMark(handler));
            if (retentionMs >= redeliveryHorizonMs)
                continue;
            yield (`${owner.name}.${name} recognises a message for ${ms(retentionMs)}, and messages may come again ` +
                `${ms(redeliveryHorizonMs)} later: such a message is handled twice. Make \`messages.retention\` longer`);
        }
    }
    *warningsOnMicroservices(consumers) {
        if (consumers.some(({ isStatic }) => isStatic) && this.microservices.hasForeign) {
            yield ('A microservice was connected without the global interceptors of the application: its messages for ' +
                '@Idempotent() handlers will be refused. Connect it with ' +
                '`app.connectMicroservice(options, { inheritAppConfig: true })`');
        }
        if (consumers.length === 0 || this.options.messages?.park)
            return;
        for (const queue of this.microservices.queuesWithoutDeadLetters()) {
            yield (`The options of ${queue} name no dead-letter exchange: unless a policy of the broker does, messages that ` +
                'cannot be handled are dropped. Set `deadLetterExchange`, or `messages.park`');
        }
    }
    consumers() {
        return [...this.handlers.all()].filter(({ handler }) => idempotentMark(handler) && isMessageHandler(handler));
    }
    subscribers(pattern) {
        return [...this.handlers.all()].filter(({ handler }) => isEventHandler(handler) && patternsOf(handler).includes(pattern)).length;
    }
};
ConsumerCheck = __decorate([
    Injectable(),
    __param(2, Inject(OPTIONS)),
    __param(3, Inject(SETTINGS)),
    __metadata("design:paramtypes", [Handlers,
        MicroserviceCheck, Object, Object])
], ConsumerCheck);
export { ConsumerCheck };
const OF_HTTP = [
    'required',
    'replayHeaders',
    'errors',
    'lateAnswer',
    'authorizeReplay',
];
export function consumerDefect(handler, isController, { options }) {
    if (isRoute(handler))
        return 'is an HTTP route and a handler of messages as well. Make two methods of it';
    if (!isController && !isRabbitHandler(handler))
        return 'is a handler of messages outside a controller. Move it there';
    if (isBatchHandler(handler)) {
        return 'is handed several messages at once. Leave @Idempotent() away, and call IdempotencyService.consumeAll() in it';
    }
    const foreign = OF_HTTP.filter((name) => options[name] !== undefined);
    if (foreign.length > 0)
        return `handles messages, and has options for HTTP: ${foreign.join(', ')}. Remove them`;
    if (options.fingerprint !== undefined && typeof options.fingerprint !== 'function') {
        return 'handles messages, whose `fingerprint` can only be a function of the context';
    }
    return undefined;
}
