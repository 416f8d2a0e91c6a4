import type { Response } from '../wire/socket.js';
import { ENDINGS } from './endings.js';
import type { Answer } from './model.js';

/** What of a response has to be right; everything a client could rely on. */
export interface Seen {
  readonly status: number;
  readonly isReplay: boolean;
  readonly type: string | undefined;
  readonly location: string | undefined;
  /** Whether it has what belongs to the first answer only: its cookie, and a header nobody asked to keep. */
  readonly hasOwnHeaders: boolean;
  readonly retryAfter: string | undefined;
  readonly cacheControl: string | undefined;
  readonly body: unknown;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';
const RETRYABLE = new Set([
  'idempotency-request-in-progress',
  'idempotency-store-unavailable',
  'idempotency-work-conflict',
  'idempotency-work-conflict',
  'idempotency-work-broken',
]);

const PLAIN: Omit<Seen, 'status' | 'body'> = {
  isReplay: false,
  type: JSON_TYPE,
  location: undefined,
  hasOwnHeaders: false,
  retryAfter: undefined,
  cacheControl: undefined,
};

/** How an answer looks on the wire, whichever platform gives it. */
export function seenAs(answer: Answer, path: string): Seen {
  switch (answer.kind) {
    case 'own':
    case 'replay':
      return handlersAnswer(answer);
    case 'problem': {
      const { status, code, retryAfter, reason } = answer;
      const problem = {
        type: `urn:problem-type:${code}`,
        title: true,
        status,
        detail: true,
        instance: path.split('?', 1)[0],
        code,
        ...(reason !== undefined && { reason }),
        retryable: RETRYABLE.has(code),
        ...(retryAfter !== undefined && { retryAfter }),
      };
      return {
        ...PLAIN,
        status,
        type: PROBLEM_TYPE,
        retryAfter: retryAfter?.toString(),
        cacheControl: 'no-store',
        body: problem,
      };
    }
    case 'unfit': {
      const message = 'The amount is not a whole number.';
      return { ...PLAIN, status: 400, body: json({ message, error: 'Bad Request', statusCode: 400 }) };
    }
    case 'timeout':
      return { ...PLAIN, status: 408, body: json({ message: 'Request Timeout', statusCode: 408 }) };
  }
}

function handlersAnswer({ kind, ending, attempt }: Extract<Answer, { ending: unknown }>): Seen {
  const { status } = ENDINGS[ending];
  const seen = { ...PLAIN, status, isReplay: kind === 'replay', body: json({ attempt: String(attempt) }) };
  switch (ending) {
    case 'done':
      return { ...seen, location: `/works/${attempt}`, hasOwnHeaders: kind === 'own' };
    case 'done, nothing to say':
      return { ...seen, type: undefined, body: '' };
    case 'of an error':
    case 'returned what nobody can serialise':
      return { ...seen, body: json({ statusCode: 500, message: 'Internal server error' }) };
    default:
      return seen;
  }
}

/** The same of a response as it came; a problem is taken apart, anything else is taken by its bytes. */
export function seenIn(response: Response): Seen {
  const type = response.header('Content-Type');
  return {
    status: response.status,
    isReplay: response.header('Idempotent-Replayed') === 'true',
    type,
    location: response.header('Location'),
    hasOwnHeaders: response.header('Set-Cookie') !== undefined || response.header('X-Request-Cost') !== undefined,
    retryAfter: response.header('Retry-After'),
    cacheControl: response.header('Cache-Control'),
    body: type === PROBLEM_TYPE ? problemIn(response) : response.payload.toString(),
  };
}

/** Of what is there for people to read, it counts that it is there. */
function problemIn(response: Response): Record<string, unknown> {
  const problem = response.json();
  return { ...problem, title: Boolean(problem.title), detail: Boolean(problem.detail) };
}

function json(value: unknown): string {
  return JSON.stringify(value);
}
