import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Money that has arrived at the bank: one more account for each currency of each merchant. */
export class CreateSettlements1767398400000 implements MigrationInterface {
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_kind_check,
        ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'equity', 'clearing', 'sales', 'bank')),
        DROP CONSTRAINT accounts_never_overdrawn,
        ADD CONSTRAINT accounts_never_overdrawn CHECK (kind IN ('equity', 'clearing', 'bank') OR balance >= 0);

      INSERT INTO accounts (merchant_id, id, kind, currency, balance)
      SELECT merchant_id, 'bank_' || currency, 'bank', currency, 0 FROM accounts WHERE kind = 'clearing';

      CREATE TABLE settlements (
        merchant_id text        NOT NULL,
        id          text        NOT NULL,
        charge_id   text        NOT NULL,
        amount      bigint      NOT NULL CHECK (amount > 0),
        currency    text        NOT NULL,
        settled_at  timestamptz NOT NULL,
        created_at  timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (merchant_id, id),
        FOREIGN KEY (merchant_id, charge_id) REFERENCES charges
      );

      CREATE INDEX settlements_by_charge ON settlements (merchant_id, charge_id);

      ALTER TABLE ledger_entries
        ADD COLUMN settlement_id text,
        ADD FOREIGN KEY (merchant_id, settlement_id) REFERENCES settlements;
    `);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      UPDATE accounts SET balance = accounts.balance - booked.amount
        FROM (SELECT merchant_id, account_id, sum(amount) AS amount
                FROM ledger_entries WHERE settlement_id IS NOT NULL GROUP BY merchant_id, account_id) AS booked
       WHERE accounts.merchant_id = booked.merchant_id AND accounts.id = booked.account_id;
      DELETE FROM ledger_entries WHERE settlement_id IS NOT NULL;
      ALTER TABLE ledger_entries DROP COLUMN settlement_id;
      DROP TABLE settlements;
      DELETE FROM accounts WHERE kind = 'bank';
      ALTER TABLE accounts
        DROP CONSTRAINT accounts_kind_check,
        ADD CONSTRAINT accounts_kind_check CHECK (kind IN ('customer', 'equity', 'clearing', 'sales')),
        DROP CONSTRAINT accounts_never_overdrawn,
        ADD CONSTRAINT accounts_never_overdrawn CHECK (kind IN ('equity', 'clearing') OR balance >= 0);
    `);
  }
}
