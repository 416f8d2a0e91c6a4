import { randomUUID } from 'node:crypto';

export const CHARGE_ID = /^ch_[0-9a-f-]{36}$/;

export const newChargeId = (): string => `ch_${randomUUID()}`;
