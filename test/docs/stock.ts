import type { EntityManager } from 'typeorm';

export class SoldOut extends Error {}

export declare function reserve(manager: EntityManager): Promise<void>;
