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
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
let Handlers = class Handlers {
    constructor(discovery, scanner) {
        this.discovery = discovery;
        this.scanner = scanner;
    }
    *all() {
        const controllers = new Set(this.discovery.getControllers());
        for (const wrapper of [...controllers, ...this.discovery.getProviders()]) {
            const owner = wrapper.metatype;
            const prototype = owner?.prototype;
            if (!owner || !prototype)
                continue;
            const isController = controllers.has(wrapper);
            for (const name of this.scanner.getAllMethodNames(prototype)) {
                yield { owner, name, handler: prototype[name], isController, isStatic: wrapper.isDependencyTreeStatic() };
            }
        }
    }
};
Handlers = __decorate([
    Injectable(),
    __metadata("design:paramtypes", [DiscoveryService,
        MetadataScanner])
], Handlers);
export { Handlers };
