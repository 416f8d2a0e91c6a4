import type { CallHandler } from '@nestjs/common';
import { lastValueFrom, type Observable, of } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';

import { storeUnavailable } from '../core/errors.js';
import type { Report } from '../core/ports.js';
import { type AttemptContext, runInAttempt } from './attempt-context.js';

/** A request without a key, where none is required: an ordinary transaction, nothing claimed and nothing recorded. */
class UnprotectedRun implements AttemptContext {
  readonly operation = null;
  readonly signal = new AbortController().signal;
  readonly callbacks: (() => unknown)[] = [];

  constructor(readonly manager: EntityManager) {}

  afterCommit(callback: () => unknown): void {
    this.callbacks.push(callback);
  }

  enter(): void {
    // Nothing was claimed that would have to know.
  }
}

/** Runs the handler in a transaction that commits when it returns. */
export async function runUnprotected(
  dataSource: DataSource,
  next: CallHandler,
  report: Report,
): Promise<Observable<unknown>> {
  let run: UnprotectedRun | undefined;
  const transaction = dataSource.transaction((manager) => {
    const begun = (run = new UnprotectedRun(manager));
    return runInAttempt(begun, () => lastValueFrom(next.handle(), { defaultValue: undefined }));
  });
  const value: unknown = await transaction.catch((error: unknown) => {
    throw run ? error : storeUnavailable(error);
  });
  for (const callback of run?.callbacks ?? []) {
    Promise.resolve()
      .then(callback)
      .catch((error: unknown) => report('A callback registered with afterCommit() failed.', error));
  }
  return of(value);
}
