import type { DataSource, EntitySubscriberInterface, QueryRunner } from 'typeorm';

import { partsOf } from '../storage/quoted-text.js';
import { currentAttempt } from './attempt-context.js';

/** One comment, or white space, at the beginning. */
const PREAMBLE = /^(?:\s+|--[^\n]*\n|\/\*[\s\S]*?\*\/)/;

const WRITE = /^(?:insert|update|delete|merge|truncate|copy)\b/i;

const WRITING_PART = /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\b/i;

/** No part of a name, and no parameter. */
const NUMBER = /(?<![\w$])\d[\w.]*/g;

/** Only so much of a statement is shown: enough to find it. */
const SHOWN_LENGTH = 80;

/** After so many different ones, one more would tell nobody anything new. */
const MAX_TOLD = 1000;

/**
 * Notices writes that an idempotent handler makes past its shared transaction.
 *
 * They are the silent mistake: such a write stays when the work is rolled back, and happens again when it is retried.
 * Each statement is told once per endpoint.
 */
export class StrayWrites implements EntitySubscriberInterface {
  private readonly told = new Set<string>();

  constructor(private readonly warn: (message: string) => void) {}

  watch(dataSource: DataSource): void {
    if (!dataSource.subscribers.includes(this)) dataSource.subscribers.push(this);
  }

  beforeQuery({ query, queryRunner }: { readonly query: string; readonly queryRunner: QueryRunner }): void {
    const attempt = currentAttempt();
    if (!attempt || queryRunner === attempt.manager?.queryRunner || !isWrite(query)) return;
    const endpoint = attempt.operation?.endpoint ?? 'A handler without a key';
    const statement = withoutValues(query).trim().replace(/\s+/g, ' ').slice(0, SHOWN_LENGTH);
    const mistake = `${endpoint}\n${statement}`;
    if (this.told.has(mistake) || this.told.size === MAX_TOLD) return;
    this.told.add(mistake);
    this.warn(
      `${endpoint} wrote outside its idempotent transaction: ${statement}… It stays when the operation is rolled ` +
        "back, and is repeated when it is retried. Write through the handler's `@TransactionManager()`, or " +
        '`IdempotencyContext.manager` in a service, as in `manager.getRepository(Entity)`.',
    );
  }
}

function isWrite(query: string): boolean {
  let command = query;
  for (let found = PREAMBLE.exec(command); found; found = PREAMBLE.exec(command))
    command = command.slice(found[0].length);
  return WRITE.test(command) || (/^with\b/i.test(command) && WRITING_PART.test(command));
}

/** Values that stand in the text are somebody's data, and so may be what comments say. */
function withoutValues(query: string): string {
  const shown = Array.from(partsOf(query), ({ text, opening }) => {
    if (opening === null) return text.replace(NUMBER, '?');
    if (opening === '"') return text;
    return opening === '--' || opening === '/*' ? ' ' : '?';
  });
  return shown.join('');
}
