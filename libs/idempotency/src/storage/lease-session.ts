import { randomUUID } from 'node:crypto';

import type { QueryResultRow } from 'pg';
import type { EntityManager } from 'typeorm';

import type { Claim } from '../core/claim.js';
import type { OperationRecord } from '../core/decision.js';
import type { Intent, KnownStep, Report, Session } from '../core/ports.js';
import type { AttemptConnection } from './attempt-connection.js';
import { isConflict, LOCK_NOT_AVAILABLE, sqlState } from './postgres-errors.js';
import { toRecord } from './record-row.js';
import { beginStatement, expiry, interval } from './statements.js';
import type { StepStatements } from './step-statements.js';
import { WorkTransaction } from './work-transaction.js';

/** How often a statement that is its own transaction gives way to others before it gives up. */
const MAX_TRIES = 3;

interface ClaimRow {
  attempts: number;
  has_steps: boolean;
}

interface StepRow {
  provider_key: string;
  tries: number;
  result: string | null;
}

/** The lease strategy: the claim is a committed row, honoured until its lease runs out. */
export class LeaseSession implements Session<EntityManager> {
  /** An outside call may have been announced: its record and its steps are not to be forgotten. */
  private hasSteps = false;

  constructor(
    private readonly connection: AttemptConnection,
    private readonly stepStatements: StepStatements,
    private readonly report: Report,
  ) {}

  async claim(fingerprint: Uint8Array): Promise<Claim | 'held'> {
    const { attempt } = this.connection;
    const token = randomUUID();
    const terms = [interval(attempt.leaseMs), ...expiry(attempt)];
    try {
      const { rows } = await this.connection.run<ClaimRow>('claim', fingerprint, token, ...terms);
      if (!rows[0]) return 'held';
      const { attempts, has_steps: hasSteps } = rows[0];
      this.hasSteps = hasSteps;
      return { token, attempts, hasSteps, heldBy: 'row' };
    } catch (error) {
      if (sqlState(error) === LOCK_NOT_AVAILABLE || isConflict(error)) return 'held';
      this.forget(token);
      throw error;
    }
  }

  async read(): Promise<OperationRecord | null> {
    return toRecord(await this.connection.read());
  }

  async begin({ token }: Claim): Promise<WorkTransaction> {
    const { attempt, identity, statements } = this.connection;
    const connection = await this.connection.unused();
    return WorkTransaction.begin(connection, this.report, {
      open: () => connection.command(beginStatement(token, attempt.leaseMs)),
      record: async (answer) => {
        const claim = [...identity, token];
        const forgotten = this.hasSteps ? connection.run(this.stepStatements.forget, claim) : undefined;
        if (!connection.isPipelined) await forgotten;
        const recorded = connection.run(statements.record, [...claim, ...answer]);
        const [{ rowCount }] = await Promise.all([recorded, forgotten]);
        return rowCount === 1;
      },
    });
  }

  async release({ token, attempts }: Claim, afterMs = 0): Promise<boolean> {
    const { countedTries = null } = this.connection.attempt;
    const isCounted = countedTries !== null && attempts < countedTries;
    const released =
      this.hasSteps || isCounted
        ? await this.runStep('clear', token, countedTries, interval(afterMs))
        : await persistently(() => this.connection.run('release', token));
    return released.rowCount === 1;
  }

  rest(): void {
    this.connection.rest();
  }

  async intend({ token }: Claim, { step, providerKey, leaseMs }: Intent): Promise<KnownStep | null> {
    this.hasSteps = true;
    const { rows } = await this.runStep<StepRow>('intend', token, step, providerKey, interval(leaseMs));
    return rows[0] ? { providerKey: rows[0].provider_key, tries: rows[0].tries, result: rows[0].result } : null;
  }

  async withdraw({ token }: Claim, step: string): Promise<boolean> {
    return (await this.runStep('withdraw', token, step)).rowCount === 1;
  }

  async finish({ token }: Claim, step: string, result: string): Promise<boolean> {
    return (await this.runStep('finish', token, step, result)).rowCount === 1;
  }

  close(): void {
    this.connection.close();
  }

  private runStep<Row extends QueryResultRow>(name: keyof StepStatements, ...values: unknown[]) {
    return persistently(async () => {
      const connection = await this.connection.usable();
      return connection.run<Row>(this.stepStatements[name], [...this.connection.identity, ...values]);
    });
  }

  /** The claim may have been committed although its answer never came: nobody is to wait for its lease. */
  private forget(token: string): void {
    void this.connection
      .another()
      .then((connection) => new LeaseSession(connection, this.stepStatements, this.report))
      .then((session) =>
        session.release({ token, attempts: 0, hasSteps: false, heldBy: 'row' }).finally(() => session.close()),
      )
      .catch((error: unknown) => this.report('A claim whose answer was lost could not be released.', error));
  }
}

/** Runs a statement that is its own transaction, which is certainly undone where it had to give way: again then. */
async function persistently<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      if (!isConflict(error) || tries === MAX_TRIES) throw error;
    }
  }
}
