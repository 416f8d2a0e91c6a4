import { CreateIdempotencyTables1764374400000 } from './1764374400000-create-idempotency-tables.js';
import { NameTheKeyOfARecording1764460800000 } from './1764460800000-name-the-key-of-a-recording.js';
import { CountTheTriesOfAStep1764547200000 } from './1764547200000-count-the-tries-of-a-step.js';
import { RememberExpiredKeys1764633600000 } from './1764633600000-remember-expired-keys.js';
import { FindExpiredKeys1764720000000 } from './1764720000000-find-expired-keys.js';

/** What the data source's `migrations` need for the library: forward-only, in order. */
export const idempotencyMigrations = [
  CreateIdempotencyTables1764374400000,
  NameTheKeyOfARecording1764460800000,
  CountTheTriesOfAStep1764547200000,
  RememberExpiredKeys1764633600000,
  FindExpiredKeys1764720000000,
];
