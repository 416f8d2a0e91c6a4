import { randomUUID } from 'node:crypto';

export const PAYMENT_ID = /^pay_[0-9a-f-]{36}$/;

export const newPaymentId = (): string => `pay_${randomUUID()}`;

export const newRefundId = (): string => `ref_${randomUUID()}`;
