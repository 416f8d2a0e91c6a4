import { Logger } from '@nestjs/common';

import { operationHash } from '../core/operation-hash.js';
import type { Report, Subject } from '../core/ports.js';

/** While the database is away every request has the same to say: the same line once a second is enough. */
const REPORT_INTERVAL_MS = 1_000;
const MAX_REMEMBERED_REPORTS = 100;

/** Reports to the application's log; what they are about is named by its endpoint and hash, and never by its key. */
export function loggedReport(): Report {
  const logger = new Logger('IdempotencyModule');
  const loggedAt = new Map<string, number>();
  return (message, error, subject) => {
    const now = performance.now();
    const report = `${message} ${String(error)}`;
    if (now - (loggedAt.get(report) ?? -Infinity) < REPORT_INTERVAL_MS) return;
    if (loggedAt.size === MAX_REMEMBERED_REPORTS) loggedAt.clear();
    loggedAt.set(report, now);
    const about = subject ? `[${nameOf(subject)}] ` : '';
    logger.warn(`${about}${message} ${error instanceof Error && error.stack ? error.stack : String(error)}`);
  };
}

function nameOf(subject: Subject): string {
  return 'key' in subject ? `${subject.endpoint} ${operationHash(subject)}` : subject.endpoint;
}
