import type { DataSource } from 'typeorm';

import type { Operation } from '../core/operation.js';
import { LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { queryPrimary } from './primary.js';
import { type Listing, type RecordState, repairStatementsFor, type RepairStatements } from './repair-statements.js';
import { interval } from './statements.js';
import { recordNames, stepNames } from './table-names.js';

/** A record as operators see it, every age by the database's clock. */
export interface RecordSummary extends Operation {
  readonly state: RecordState;
  /** How long it has been in this state. */
  readonly ageSeconds: number;
  readonly attempts: number;
  readonly token: string | null;
  readonly hasSteps: boolean;
  readonly leaseLeftSeconds: number | null;
  readonly createdAt: Date;
  readonly lockedAt: Date | null;
  readonly lockedUntil: Date | null;
  readonly completedAt: Date | null;
  /** Until when the recording is replayed, where its key is remembered for longer than that. */
  readonly replaysUntil: Date | null;
  /** From when on its key is that of a new operation. */
  readonly expiresAt: Date;
  readonly isForgotten: boolean;
}

/** The same with its recording. */
export interface RecordDetail extends RecordSummary {
  readonly status: number | null;
  /** A JSON array of [name, value] pairs. */
  readonly headers: string | null;
  /** As it is kept. */
  readonly bodyBytes: number | null;
  readonly body: Buffer | null;
  readonly omitted: string | null;
  readonly keyId: string | null;
  readonly resource: string | null;
}

export interface StepDetail {
  readonly name: string;
  readonly providerKey: string;
  readonly tries: number;
  readonly result: string | null;
  readonly intendedAt: Date;
  readonly finishedAt: Date | null;
}

export interface ListedRecords extends Listing {
  readonly tenant?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly olderThanMs?: number | undefined;
  readonly hash?: string | undefined;
  readonly limit: number;
}

/** As the server counts it. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

/** What operators look at and repair, on the primary. */
export class PostgresRepair {
  private readonly statements: RepairStatements;

  constructor(
    private readonly dataSource: DataSource,
    /** How long one look may take, in milliseconds. */
    private readonly timeoutMs: number,
  ) {
    this.statements = repairStatementsFor(recordNames(dataSource), stepNames(dataSource));
  }

  list({ tenant, endpoint, olderThanMs, hash, limit, ...listing }: ListedRecords): Promise<RecordSummary[]> {
    const age = olderThanMs === undefined ? undefined : interval(olderThanMs);
    return this.look((query) => query(this.statements.list(listing), [tenant, endpoint, age, hash, limit]));
  }

  /** One record and its steps, as they are at one moment; null where there is none. */
  find(
    { tenant, endpoint, key }: Operation,
    { withBody = false } = {},
  ): Promise<{ record: RecordDetail; steps: StepDetail[] } | null> {
    return this.look(async (query) => {
      const [record] = await query<RecordDetail>(this.statements.read, [tenant, endpoint, key, withBody]);
      const steps = await query<StepDetail>(this.statements.steps, [tenant, endpoint, key]);
      return record ? { record, steps } : null;
    });
  }

  /** Lets go of the claim that was seen; false, and nothing was changed, where it is another one or lives again. */
  release(seen: RecordSummary, { evenIfLive }: { readonly evenIfLive: boolean }): Promise<boolean> {
    return this.change(this.statements.release, [...identityOf(seen), evenIfLive]);
  }

  /** Ends the retention of the recording that was seen; false, and nothing was changed, where it is another one. */
  expire(seen: RecordSummary): Promise<boolean> {
    return this.change(this.statements.expire, identityOf(seen));
  }

  private async change(text: string, values: unknown[]): Promise<boolean> {
    try {
      return (await queryPrimary(this.dataSource, text, values)).length === 1;
    } catch (error) {
      // Somebody is just changing it.
      if (sqlState(error) === LOCK_NOT_AVAILABLE) return false;
      throw error;
    }
  }

  private async look<Found>(
    read: (query: <Row>(text: string, values: unknown[]) => Promise<Row[]>) => Promise<Found>,
  ): Promise<Found> {
    const runner = this.dataSource.createQueryRunner('master');
    const timeoutMs = Math.min(Math.ceil(this.timeoutMs), LONGEST_TIMEOUT_MS);
    try {
      // The driver reads no other style of dates.
      await runner.query(
        `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL datestyle = 'ISO'; SET LOCAL statement_timeout = ${timeoutMs}`,
      );
      const found = await read(<Row>(text: string, values: unknown[]) => runner.query(text, values) as Promise<Row[]>);
      await runner.query('COMMIT');
      return found;
    } catch (error) {
      await runner.query('ROLLBACK').catch(() => undefined);
      throw error;
    } finally {
      await runner.release();
    }
  }
}

function identityOf({ tenant, endpoint, key, token, attempts }: RecordSummary): unknown[] {
  return [tenant, endpoint, key, token, attempts];
}
