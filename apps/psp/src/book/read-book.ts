import type { DataSource } from 'typeorm';
import { Charge, type ChargeStatus } from '../charges/charge.entity.js';

/** What a merchant's customers were charged, for comparing with the merchant's own ledger. */
export interface Book {
  readonly totals: readonly Total[];
  readonly charges: readonly Row[];
}

export interface Sums {
  /** Authorized or taken: what a charge was made for. */
  readonly charged: number;
  readonly captured: number;
  readonly refunded: number;
}

/** Of one currency. */
export interface Total extends Sums {
  readonly currency: string;
  readonly charges: number;
}

export interface Row extends Sums {
  readonly id: string;
  readonly reference: string | null;
  readonly status: ChargeStatus;
  readonly currency: string;
  readonly createdAt: Date;
}

/** One query, and so one moment: totals and rows always agree. */
export async function readBook({ manager }: DataSource, merchantId: string): Promise<Book> {
  const charges = await manager.find(Charge, { where: { merchantId }, order: { createdAt: 'ASC', id: 'ASC' } });
  const rows = charges.map(({ id, reference, status, currency, amount: charged, captured, refunded, createdAt }) => ({
    id,
    reference,
    status,
    currency,
    charged,
    captured,
    refunded,
    createdAt,
  }));
  const currencies = [...new Set(rows.map(({ currency }) => currency))].sort();
  return { totals: currencies.map((currency) => totalOf(currency, rows)), charges: rows };
}

function totalOf(currency: string, all: readonly Row[]): Total {
  const rows = all.filter((row) => row.currency === currency);
  const sum = (of: keyof Sums): number => rows.reduce((total, row) => total + row[of], 0);
  return {
    currency,
    charges: rows.length,
    charged: sum('charged'),
    captured: sum('captured'),
    refunded: sum('refunded'),
  };
}
