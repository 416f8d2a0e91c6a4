import type { DataSource } from 'typeorm';

import type { Operation } from '../core/operation.js';
import type { Outcomes, SeenStep } from '../core/ports.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { queryPrimary } from './primary.js';
import { outcomeStatementsFor, type OutcomeStatements } from './repair-statements.js';
import { recordNames, stepNames } from './table-names.js';

interface SeenRow {
  token: string | null;
  attempts: number;
  tries: number;
  is_held: boolean;
  is_known: boolean;
}

/** Puts on record what somebody found out about an outside call. */
export class PostgresOutcomes implements Outcomes {
  private readonly statements: OutcomeStatements;

  constructor(private readonly dataSource: DataSource) {
    this.statements = outcomeStatementsFor(recordNames(dataSource), stepNames(dataSource));
  }

  async find(operation: Operation, step: string): Promise<SeenStep | null> {
    const { tenant, endpoint, key } = operation;
    const values = [tenant, endpoint, key, step];
    const [row] = await queryPrimary<SeenRow>(this.dataSource, this.statements.find, values);
    if (!row) return null;
    const { token, attempts, tries, is_held: isHeld, is_known: isKnown } = row;
    return { operation, step, token, attempts, tries, isHeld, isKnown };
  }

  async put({ operation, step, token, attempts, tries }: SeenStep, result: string | null): Promise<boolean> {
    const { tenant, endpoint, key } = operation;
    const values = [tenant, endpoint, key, token, attempts, step, tries];
    try {
      const rows =
        result === null
          ? await queryPrimary(this.dataSource, this.statements.withdraw, values)
          : await queryPrimary(this.dataSource, this.statements.keep, [...values, result]);
      return rows.length === 1;
    } catch (error) {
      // Somebody is just changing it.
      if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error)) return false;
      throw error;
    }
  }
}
