import type { CallHandler } from '@nestjs/common';
import { lastValueFrom, type Observable, of } from 'rxjs';
import type { DataSource, EntityManager } from 'typeorm';

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
  let callbacks: readonly (() => unknown)[] = [];
  const value: unknown = await dataSource.transaction((manager) => {
    const run = new UnprotectedRun(manager);
    callbacks = run.callbacks;
    return runInAttempt(run, () => lastValueFrom(next.handle(), { defaultValue: undefined }));
  });
  for (const callback of callbacks) {
    Promise.resolve()
      .then(callback)
      .catch((error: unknown) => report('A callback registered with afterCommit() failed.', error));
  }
  return of(value);
}
