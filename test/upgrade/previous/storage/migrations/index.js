import { CreateIdempotencyTables1764374400000 } from './1764374400000-create-idempotency-tables.js';
import { NameTheKeyOfARecording1764460800000 } from './1764460800000-name-the-key-of-a-recording.js';
import { CountTheTriesOfAStep1764547200000 } from './1764547200000-count-the-tries-of-a-step.js';
export const idempotencyMigrations = [
    CreateIdempotencyTables1764374400000,
    NameTheKeyOfARecording1764460800000,
    CountTheTriesOfAStep1764547200000,
];
