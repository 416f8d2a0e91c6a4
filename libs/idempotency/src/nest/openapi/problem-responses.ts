import type { HeaderObject, ResponseObject } from '@nestjs/swagger';

import { DEFAULT_RETRY_AFTER_MS, IdempotencyError, type IdempotencyErrorCode } from '../../core/errors.js';
import {
  type Problem,
  PROBLEM_CODES,
  PROBLEM_TYPE,
  problemHeaders,
  problemOf,
  type ProblemOptions,
} from '../../http/problem.js';
import type { Endpoint } from '../endpoints.js';
import { PROBLEM_REFERENCE } from './problem-schema.js';

/** The media type of a problem, by which documents name it. */
export const PROBLEM_MEDIA_TYPE = PROBLEM_TYPE.split(';', 1)[0]!;

/** What documents say of the headers of a problem; those that are not here speak for themselves. */
const HEADERS: { readonly [Name in string]?: HeaderObject } = {
  'Retry-After': {
    description: 'After how many seconds to try again, with the same key.',
    schema: { type: 'integer', minimum: 1 },
  },
  Link: {
    description:
      '`rel="related"` leads to the result of the operation, `rel="help"` to what there is to read about keys.',
    schema: { type: 'string' },
  },
};

/** The problems a caller of the endpoint can meet, by status. Faults that no caller can help (500) are left out. */
export function problemResponses(endpoint: Endpoint, options: ProblemOptions): Map<number, ResponseObject> {
  const byStatus = new Map<number, Problem[]>();
  for (const code of PROBLEM_CODES) {
    const problem = exampleOf(code, options);
    if (problem.status === 500 || !canOccur(code, endpoint)) continue;
    byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem]);
  }
  return new Map([...byStatus].map(([status, problems]) => [status, responseOf(problems, options)]));
}

/** Those that say where the result of the operation lives. */
const OF_RESULTS = new Set<IdempotencyErrorCode>(['idempotency-response-unavailable', 'idempotency-key-expired']);

const OF_STEPS = new Set<IdempotencyErrorCode>(['idempotency-outcome-unknown', 'idempotency-step-refused']);

function canOccur(
  code: IdempotencyErrorCode,
  { isRequired, isManual, tombstoneMs, authorizeReplay }: Endpoint,
): boolean {
  if (OF_STEPS.has(code)) return isManual;
  if (code === 'idempotency-key-missing') return isRequired;
  if (code === 'idempotency-key-expired') return tombstoneMs > 0;
  if (code === 'idempotency-replay-forbidden') return authorizeReplay !== undefined;
  return true;
}

function responseOf(problems: readonly Problem[], options: ProblemOptions): ResponseObject {
  const sent = problems.flatMap((problem) => problemHeaders(problem, options));
  const headers = Object.fromEntries(
    sent.flatMap(([name]) => (HEADERS[name] ? [[name, structuredClone(HEADERS[name])]] : [])),
  );
  return {
    description: problems.map(({ title, code }) => `${title} (\`${code}\`)`).join('; '),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: {
      [PROBLEM_MEDIA_TYPE]: {
        schema: { ...PROBLEM_REFERENCE },
        examples: Object.fromEntries(problems.map((value) => [value.code, { value }])),
      },
    },
  };
}

/** As it is sent, but for the words of its detail. */
function exampleOf(code: IdempotencyErrorCode, options: ProblemOptions): Problem {
  const { title, retryable } = problemOf(new IdempotencyError(code, ''), options);
  const details = {
    ...(retryable && { retryAfterMs: DEFAULT_RETRY_AFTER_MS }),
    ...(OF_RESULTS.has(code) && { resource: '/payments/8231' }),
  };
  return problemOf(new IdempotencyError(code, `${title}.`, details), options);
}
