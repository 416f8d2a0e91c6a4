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
import { ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { Handlers } from './handlers.js';
import { IdempotencyInterceptor } from './idempotency.interceptor.js';
import { declaredMethods, idempotentMark, isDeclaredIdempotent } from './idempotent.decorator.js';
import { ConsumerCheck, consumerDefect } from './messages/consumer-check.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import { answersOtherwise, isRoute, isSafeRoute, isSse, takesNext } from './route-metadata.js';
let RouteCheck = class RouteCheck {
    constructor(handlers, discovery, config, consumers) {
        this.handlers = handlers;
        this.discovery = discovery;
        this.config = config;
        this.consumers = consumers;
    }
    assertRoutes(endpoints) {
        const defects = [...this.moduleDefects(), ...this.consumers.defects()];
        for (const found of this.handlers.all()) {
            const { owner, name } = found;
            const defect = handlerDefect(found, endpoints);
            if (defect)
                defects.push(`${owner.name}.${name} ${defect}`);
        }
        if (defects.length === 0)
            return;
        throw new Error(`@Idempotent() cannot protect:\n${defects.map((defect) => `  - ${defect}`).join('\n')}`);
    }
    notes(endpoints) {
        return [...this.notesOnReads(), ...this.notesOnOuterInterceptors(endpoints)];
    }
    *notesOnReads() {
        const reads = new Map();
        for (const { owner, name, handler, isController } of this.handlers.all()) {
            if (!isController || !isDeclaredIdempotent(owner) || !isRoute(handler) || !isSafeRoute(handler))
                continue;
            reads.set(owner, [...(reads.get(owner) ?? []), name]);
        }
        for (const [owner, names] of reads) {
            yield (`@Idempotent() on ${owner.name} leaves the handlers that change nothing as they are: ${names.join(', ')}. ` +
                'Put it on the methods that are meant, if this is a surprise');
        }
    }
    *notesOnOuterInterceptors(endpoints) {
        const outer = this.outerInterceptors().join(', ');
        if (outer === '')
            return;
        yield `Global interceptors outside the idempotency interceptor: ${outer}`;
        for (const { owner, name, handler } of this.handlers.all()) {
            const mark = idempotentMark(handler);
            if (!mark || endpoints.of(owner, handler, mark).lateAnswer !== 'value')
                continue;
            yield (`${owner.name}.${name} records late answers as the value it returned (lateAnswer: 'value'). ` +
                `If one of ${outer} takes something out of that value, leave the option away`);
        }
    }
    outerInterceptors() {
        const interceptors = this.config.getGlobalInterceptors();
        const ours = interceptors.findIndex((interceptor) => interceptor instanceof IdempotencyInterceptor);
        return interceptors.slice(0, Math.max(ours, 0)).map((interceptor) => interceptor.constructor.name);
    }
    moduleDefects() {
        const instances = this.discovery
            .getProviders()
            .filter(({ instance }) => instance instanceof IdempotencyInterceptor);
        const distinct = new Set(instances.map(({ instance }) => instance));
        return distinct.size > 1
            ? ['anything: IdempotencyModule is set up more than once. Import `forRoot()` in the root module only']
            : [];
    }
};
RouteCheck = __decorate([
    Injectable(),
    __metadata("design:paramtypes", [Handlers,
        DiscoveryService,
        ApplicationConfig,
        ConsumerCheck])
], RouteCheck);
export { RouteCheck };
function handlerDefect({ owner, name, handler, isController }, endpoints) {
    const mark = idempotentMark(handler);
    if (!mark) {
        return declaredMethods(owner).has(name)
            ? 'lost its @Idempotent(): something replaced the method without keeping its metadata. Put @Idempotent() above it'
            : undefined;
    }
    if (isAsyncGenerator(mark))
        return 'is an async generator, which cannot be recorded. Return its last value';
    if (isMessageHandler(handler)) {
        return consumerDefect(handler, isController, mark) ?? settingsDefect(owner, handler, mark, endpoints);
    }
    if (!isController || !isRoute(handler)) {
        return ('is neither an HTTP route of a controller nor a handler of messages. Only those can be decorated; in a resolver, ' +
            'a gateway or a job, call IdempotencyService.run()');
    }
    if (isSafeRoute(handler))
        return 'answers only methods that change nothing (GET, HEAD, OPTIONS). Remove @Idempotent()';
    if (isSse(handler))
        return 'is an event stream, which cannot be replayed. Remove @Idempotent()';
    if (takesNext(owner, name))
        return 'takes @Next(), so its answer may come from anywhere. Remove @Next()';
    if (mark.options.maxTries !== undefined)
        return 'has `maxTries`, which is for handlers of messages. Remove it';
    return settingsDefect(owner, handler, mark, endpoints);
}
function settingsDefect(owner, handler, mark, endpoints) {
    try {
        const endpoint = endpoints.of(owner, handler, mark);
        const { isRequired, writesOwnResponse, lateAnswer } = endpoint;
        const stepsDefect = endpoint.isManual ? manualDefect(endpoint, endpoints.canMakeSteps) : undefined;
        if (stepsDefect)
            return stepsDefect;
        if (!isRequired && writesOwnResponse) {
            return ('writes its own response, which without a key would go out before its transaction commits. ' +
                'Use @Res({ passthrough: true }), or require a key');
        }
        if (lateAnswer === 'value' && (writesOwnResponse || answersOtherwise(handler))) {
            return ('does not answer with its value alone, so that cannot be recorded in place of a late answer. ' +
                "Set lateAnswer: 'omit'");
        }
        return undefined;
    }
    catch (error) {
        return `has options that cannot be right: ${error.message}`;
    }
}
function manualDefect({ isRequired, writesOwnResponse, strategy }, hasSecret) {
    if (strategy.kind === 'transaction') {
        return "makes steps under `claim: 'transaction'`, which holds its transaction from the start. Use `claim: 'lease'`";
    }
    if (!isRequired)
        return 'makes steps, which without a key would happen again on every retry. Require a key';
    if (writesOwnResponse)
        return 'makes steps and writes its own response. Use @Res({ passthrough: true })';
    if (!hasSecret)
        return 'makes steps. Set `providerKeySecret` in IdempotencyModule.forRoot(), to derive their keys with';
    return undefined;
}
function isAsyncGenerator({ original }) {
    return original.constructor.name === 'AsyncGeneratorFunction';
}
