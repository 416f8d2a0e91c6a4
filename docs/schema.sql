-- The tables of nestjs-idempotency. Every statement can be repeated: run them outside a transaction, and again from
-- the start if one of them could not get its lock in time, so that requests never queue up behind it.
-- On a large table in use, make an index with CREATE INDEX CONCURRENTLY instead.
SET lock_timeout = '100ms';

-- CreateIdempotencyTables1764374400000
CREATE TABLE IF NOT EXISTS "idempotency_records" (
  "created_at" timestamptz NOT NULL,
  "expires_at" timestamptz NOT NULL,
  "locked_at" timestamptz,
  "locked_until" timestamptz,
  "completed_at" timestamptz,
  "token" uuid,
  "attempts" integer NOT NULL DEFAULT 1,
  "response_status" smallint,
  "has_steps" boolean NOT NULL DEFAULT false,
  "tenant" text NOT NULL,
  "endpoint" text NOT NULL,
  "key" text NOT NULL,
  "state" text NOT NULL,
  "fingerprint" bytea NOT NULL,
  "response_headers" text,
  "response_body" bytea,
  "response_omitted" text,
  "resource" text,
  CONSTRAINT "PK_e8dee9f1cd674591c682179214c" PRIMARY KEY ("tenant", "endpoint", "key"),
  CONSTRAINT "CHK_4b0da58b127f0a8858532a5402" CHECK ("state" IN ('in_progress', 'completed'))
) WITH (fillfactor = 80);

CREATE INDEX IF NOT EXISTS "IDX_b3482fdd761179f433dab212e7" ON "idempotency_records" ("expires_at");

CREATE TABLE IF NOT EXISTS "idempotency_steps" (
  "tenant" text NOT NULL,
  "endpoint" text NOT NULL,
  "key" text NOT NULL,
  "name" text NOT NULL,
  "provider_key" text NOT NULL,
  "token" uuid NOT NULL,
  "result" text,
  "intended_at" timestamptz NOT NULL DEFAULT statement_timestamp(),
  "finished_at" timestamptz,
  CONSTRAINT "PK_9668cfc2b1b327167635277313c" PRIMARY KEY ("tenant", "endpoint", "key", "name")
);

-- NameTheKeyOfARecording1764460800000
ALTER TABLE "idempotency_records" ADD COLUMN IF NOT EXISTS "response_key_id" text;

-- CountTheTriesOfAStep1764547200000
ALTER TABLE "idempotency_steps" ADD COLUMN IF NOT EXISTS "tries" integer NOT NULL DEFAULT 1;

-- RememberExpiredKeys1764633600000
ALTER TABLE "idempotency_records" ADD COLUMN IF NOT EXISTS "replays_until" timestamptz;

-- FindExpiredKeys1764720000000
CREATE INDEX IF NOT EXISTS "IDX_8ed3b5c276b0265153596c5d3d" ON "idempotency_records" ("replays_until") WHERE "replays_until" IS NOT NULL;
