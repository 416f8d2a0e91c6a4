import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Money from cards, in the book that is there: two more accounts for each currency of each merchant. */
export class CreateCharges1767312000000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_kind_check,
        ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'equity', 'clearing', 'sales')),
        DROP CONSTRAINT accounts_never_overdrawn,
        ADD CONSTRAINT accounts_never_overdrawn CHECK (kind IN ('equity', 'clearing') OR balance >= 0);

      INSERT INTO accounts (merchant_id, id, kind, currency, balance)
      SELECT merchant_id, house.kind || '_' || currency, house.kind, currency, 0
        FROM accounts CROSS JOIN (VALUES ('clearing'), ('sales')) AS house (kind)
       WHERE accounts.kind = 'equity';

      CREATE TABLE charges (
        merchant_id text        NOT NULL REFERENCES merchants,
        id          text        NOT NULL,
        provider_id text        NOT NULL,
        status      text        NOT NULL CHECK (status IN ('authorized', 'captured')),
        amount      bigint      NOT NULL CHECK (amount > 0),
        currency    text        NOT NULL,
        captured    bigint      NOT NULL,
        refunded    bigint      NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        UNIQUE (merchant_id, provider_id),
        CONSTRAINT charges_never_captured_beyond_amount CHECK (captured BETWEEN 0 AND amount),
        CONSTRAINT charges_never_refunded_beyond_captured CHECK (refunded BETWEEN 0 AND captured)
      );

      CREATE TABLE charge_refunds (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        charge_id   text        NOT NULL,
        provider_id text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount > 0),
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        UNIQUE (merchant_id, provider_id),
        FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
      );

      ALTER TABLE ledger_entries
        ADD COLUMN charge_id text,
        ADD COLUMN charge_refund_id text,
        ADD FOREIGN KEY (merchant_id, charge_id) REFERENCES charges,
        ADD FOREIGN KEY (merchant_id, charge_refund_id) REFERENCES charge_refunds;

      CREATE INDEX ledger_entries_by_charge ON ledger_entries (merchant_id, charge_id);

      CREATE TABLE receipts (
        merchant_id text        NOT NULL,
        charge_id   text        NOT NULL,
        amount      bigint      NOT NULL,
        currency    text        NOT NULL,
        issued_at   timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, charge_id),
        FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
      );
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      DELETE FROM ledger_entries WHERE charge_id IS NOT NULL;
      ALTER TABLE ledger_entries DROP COLUMN charge_id, DROP COLUMN charge_refund_id;
      DROP TABLE receipts, charge_refunds, charges;
      DELETE FROM accounts WHERE kind IN ('clearing', 'sales');
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_kind_check,
        ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'equity')),
        DROP CONSTRAINT accounts_never_overdrawn,
        ADD CONSTRAINT accounts_never_overdrawn CHECK (kind = 'equity' OR balance >= 0);
    `);
  }
}
