var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Column, Entity, PrimaryColumn } from 'typeorm';
let IdempotencyStep = class IdempotencyStep {
};
__decorate([
    PrimaryColumn({ name: 'tenant', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "tenant", void 0);
__decorate([
    PrimaryColumn({ name: 'endpoint', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "endpoint", void 0);
__decorate([
    PrimaryColumn({ name: 'key', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "key", void 0);
__decorate([
    PrimaryColumn({ name: 'name', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "name", void 0);
__decorate([
    Column({ name: 'provider_key', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "providerKey", void 0);
__decorate([
    Column({ name: 'token', type: 'uuid' }),
    __metadata("design:type", String)
], IdempotencyStep.prototype, "token", void 0);
__decorate([
    Column({ name: 'tries', type: 'integer', default: 1 }),
    __metadata("design:type", Number)
], IdempotencyStep.prototype, "tries", void 0);
__decorate([
    Column({ name: 'result', type: 'text', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyStep.prototype, "result", void 0);
__decorate([
    Column({ name: 'intended_at', type: 'timestamptz', default: () => 'statement_timestamp()' }),
    __metadata("design:type", Date)
], IdempotencyStep.prototype, "intendedAt", void 0);
__decorate([
    Column({ name: 'finished_at', type: 'timestamptz', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyStep.prototype, "finishedAt", void 0);
IdempotencyStep = __decorate([
    Entity({ name: 'idempotency_steps' })
], IdempotencyStep);
export { IdempotencyStep };
