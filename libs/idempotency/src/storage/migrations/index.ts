import { CreateIdempotencyTables1764374400000 } from './1764374400000-create-idempotency-tables.js';

/** What the data source's `migrations` need for the library: forward-only, in order. */
export const idempotencyMigrations = [CreateIdempotencyTables1764374400000];
