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
import { currentAttempt } from '../attempt-context.js';
import { Handlers } from '../handlers.js';
import { idempotentMark } from '../idempotent.decorator.js';
import { isPatternHandler } from './handler-metadata.js';
import { leaveUnsettled } from './rabbitmq.delivery.js';
const INTERCEPTORS = '__interceptors__';
class MessageGate {
    intercept(context, next) {
        if (currentAttempt())
            return next.handle();
        leaveUnsettled(context.switchToRpc().getContext());
        throw new Error(`${context.getClass().name}.${context.getHandler().name} is @Idempotent(), and the microservice that calls it ` +
            'does not have the global interceptors of the application: the message is not handled. Connect it with ' +
            '`app.connectMicroservice(options, { inheritAppConfig: true })`.');
    }
}
const GATE = new MessageGate();
let MessageGates = class MessageGates {
    constructor(handlers) {
        for (const { handler } of handlers.all())
            addGate(handler);
    }
};
MessageGates = __decorate([
    Injectable(),
    __metadata("design:paramtypes", [Handlers])
], MessageGates);
export { MessageGates };
function addGate(handler) {
    if (!idempotentMark(handler) || !isPatternHandler(handler))
        return;
    const interceptors = (Reflect.getMetadata(INTERCEPTORS, handler) ?? []);
    if (interceptors.includes(GATE))
        return;
    Reflect.defineMetadata(INTERCEPTORS, [GATE, ...interceptors], handler);
}
