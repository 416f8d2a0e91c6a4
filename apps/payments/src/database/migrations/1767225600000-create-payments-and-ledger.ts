import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Every table starts its key with the merchant, and every reference carries it: a payment cannot name the account of
 * another merchant, whatever the code above does.
 */
export class CreatePaymentsAndLedger1767225600000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE merchants (
        id             text PRIMARY KEY,
        name           text NOT NULL,
        api_key_sha256 text NOT NULL UNIQUE
      );

      CREATE TABLE accounts (
        merchant_id text   NOT NULL REFERENCES merchants,
        id          text   NOT NULL,
        kind        text   NOT NULL CHECK (kind IN ('customer', 'equity')),
        currency    text   NOT NULL CHECK (currency ~ '^[a-z]{3}$'),
        balance     bigint NOT NULL,
        PRIMARY KEY (merchant_id, id),
        CONSTRAINT accounts_never_overdrawn CHECK (kind = 'equity' OR balance >= 0)
      );

      CREATE TABLE payments (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount > 0),
        currency    text        NOT NULL,
        source      text        NOT NULL,
        destination text        NOT NULL,
        refunded    bigint      NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        FOREIGN KEY (merchant_id, source) REFERENCES accounts,
        FOREIGN KEY (merchant_id, destination) REFERENCES accounts,
        CONSTRAINT payments_never_refunded_beyond_amount CHECK (refunded BETWEEN 0 AND amount)
      );

      CREATE TABLE refunds (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        payment_id  text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount > 0),
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        FOREIGN KEY (merchant_id, payment_id) REFERENCES payments
      );

      CREATE TABLE ledger_entries (
        merchant_id text        NOT NULL,
        id          bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
        account_id  text        NOT NULL,
        currency    text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount <> 0),
        payment_id  text,
        refund_id   text,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        FOREIGN KEY (merchant_id, account_id) REFERENCES accounts,
        FOREIGN KEY (merchant_id, payment_id) REFERENCES payments,
        FOREIGN KEY (merchant_id, refund_id) REFERENCES refunds
      );

      CREATE INDEX ledger_entries_by_payment ON ledger_entries (merchant_id, payment_id);
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE ledger_entries, refunds, payments, accounts, merchants');
  }
}
