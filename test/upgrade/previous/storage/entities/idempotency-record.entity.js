var __decorate = (this && this.__decorate) || function (decorators, target, key, desc) {
    var c = arguments.length, r = c < 3 ? target : desc === null ? desc = Object.getOwnPropertyDescriptor(target, key) : desc, d;
    if (typeof Reflect === "object" && typeof Reflect.decorate === "function") r = Reflect.decorate(decorators, target, key, desc);
    else for (var i = decorators.length - 1; i >= 0; i--) if (d = decorators[i]) r = (c < 3 ? d(r) : c > 3 ? d(target, key, r) : d(target, key)) || r;
    return c > 3 && r && Object.defineProperty(target, key, r), r;
};
var __metadata = (this && this.__metadata) || function (k, v) {
    if (typeof Reflect === "object" && typeof Reflect.metadata === "function") return Reflect.metadata(k, v);
};
import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
let IdempotencyRecord = class IdempotencyRecord {
};
__decorate([
    Column({ name: 'created_at', type: 'timestamptz' }),
    __metadata("design:type", Date)
], IdempotencyRecord.prototype, "createdAt", void 0);
__decorate([
    Index(),
    Column({ name: 'expires_at', type: 'timestamptz' }),
    __metadata("design:type", Date)
], IdempotencyRecord.prototype, "expiresAt", void 0);
__decorate([
    Column({ name: 'locked_at', type: 'timestamptz', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "lockedAt", void 0);
__decorate([
    Column({ name: 'locked_until', type: 'timestamptz', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "lockedUntil", void 0);
__decorate([
    Column({ name: 'completed_at', type: 'timestamptz', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "completedAt", void 0);
__decorate([
    Column({ name: 'token', type: 'uuid', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "token", void 0);
__decorate([
    Column({ name: 'attempts', type: 'integer', default: 1 }),
    __metadata("design:type", Number)
], IdempotencyRecord.prototype, "attempts", void 0);
__decorate([
    Column({ name: 'response_status', type: 'smallint', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "responseStatus", void 0);
__decorate([
    Column({ name: 'has_steps', type: 'boolean', default: false }),
    __metadata("design:type", Boolean)
], IdempotencyRecord.prototype, "hasSteps", void 0);
__decorate([
    PrimaryColumn({ name: 'tenant', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyRecord.prototype, "tenant", void 0);
__decorate([
    PrimaryColumn({ name: 'endpoint', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyRecord.prototype, "endpoint", void 0);
__decorate([
    PrimaryColumn({ name: 'key', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyRecord.prototype, "key", void 0);
__decorate([
    Column({ name: 'state', type: 'text' }),
    __metadata("design:type", String)
], IdempotencyRecord.prototype, "state", void 0);
__decorate([
    Column({ name: 'fingerprint', type: 'bytea' }),
    __metadata("design:type", Buffer)
], IdempotencyRecord.prototype, "fingerprint", void 0);
__decorate([
    Column({ name: 'response_headers', type: 'text', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "responseHeaders", void 0);
__decorate([
    Column({ name: 'response_body', type: 'bytea', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "responseBody", void 0);
__decorate([
    Column({ name: 'response_omitted', type: 'text', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "responseOmitted", void 0);
__decorate([
    Column({ name: 'response_key_id', type: 'text', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "responseKeyId", void 0);
__decorate([
    Column({ name: 'resource', type: 'text', nullable: true }),
    __metadata("design:type", Object)
], IdempotencyRecord.prototype, "resource", void 0);
IdempotencyRecord = __decorate([
    Entity({ name: 'idempotency_records' }),
    Check(`state IN ('in_progress', 'completed')`)
], IdempotencyRecord);
export { IdempotencyRecord };
