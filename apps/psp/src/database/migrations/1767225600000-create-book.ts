import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Every table's key and every reference begins with the merchant. */
export class CreateBook1767225600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE charges (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        status      text        NOT NULL CHECK (status IN ('authorized', 'captured')),
        amount      bigint      NOT NULL CHECK (amount > 0),
        currency    text        NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
        card        text        NOT NULL,
        reference   text,
        captured    bigint      NOT NULL,
        refunded    bigint      NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        CONSTRAINT charges_captured_once CHECK ((status = 'captured') = (captured > 0)),
        CONSTRAINT charges_never_captured_beyond_amount CHECK (captured BETWEEN 0 AND amount),
        CONSTRAINT charges_never_refunded_beyond_captured CHECK (refunded BETWEEN 0 AND captured)
      );
      CREATE INDEX charges_by_reference ON charges (merchant_id, reference);

      CREATE TABLE refunds (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        charge_id   text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount > 0),
        currency    text        NOT NULL,
        reference   text,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
      );
      CREATE INDEX refunds_by_reference ON refunds (merchant_id, reference);

      -- The answer is missing only while the transaction that claims the key runs: nobody else sees it so.
      CREATE TABLE kept_answers (
        merchant_id    text        NOT NULL,
        key            text        NOT NULL,
        request_sha256 text        NOT NULL,
        status         integer,
        body           text,
        created_at     timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, key)
      );

      CREATE TABLE webhook_events (
        merchant_id     text        NOT NULL,
        id              text        NOT NULL,
        sequence        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        type            text        NOT NULL,
        data            json        NOT NULL,
        fault           json,
        state           text        NOT NULL CHECK (state IN ('pending', 'delivered', 'given_up')),
        attempts        integer     NOT NULL,
        next_attempt_at timestamptz,
        last_outcome    text,
        created_at      timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id)
      );
      CREATE INDEX webhook_events_due ON webhook_events (next_attempt_at) WHERE state = 'pending';
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE webhook_events, kept_answers, refunds, charges');
  }
}
