import { expect } from '@jest/globals';
import type { Answer } from './request.js';
import type { Stage } from './stage.js';

/** What a platform and Node put on every answer by themselves. */
const EVERY_ANSWER = ['date', 'connection', 'keep-alive', 'x-powered-by', 'content-length', 'transfer-encoding'];

export function statusLine({ status, reason }: Answer): string {
  return `${status} ${reason}`;
}

/** The header lines that this answer has and not every one, in alphabetical order. */
export function linesOf({ headers }: Answer, leftOut: readonly string[] = []): string[] {
  const lines = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return lines
    .filter(([name]) => !EVERY_ANSWER.includes(name) && !leftOut.includes(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();
}

export interface Expected {
  readonly line: string;
  /** Text as it is; anything else as JSON. */
  readonly body: unknown;
  /** Every header line besides those of every answer, and an `ETag`. */
  readonly lines?: readonly string[];
}

const JSON_LINE = 'content-type: application/json; charset=utf-8';

/** It says this, and nothing more. */
export function expectAnswer(answer: Answer, { line, body, lines = [JSON_LINE] }: Expected): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  expect([statusLine(answer), answer.payload.toString()]).toEqual([line, text]);
  expect(linesOf(answer, ['etag'])).toEqual([...lines].sort());
  expect(answer.isWhole).toBe(true);
}

/** It comes from the handler that was entered as the `entry`th of its run, not from a record. */
export function expectPaid(answer: Answer, entry = 1): void {
  expectAnswer(answer, { line: '201 Created', body: { paid: answer.run, entry } });
}

/** It says, byte for byte, what the first answer said, and that it is a replay; `lost` are lines that only that had. */
export function expectReplay(replay: Answer, first: Answer, lost: readonly string[] = []): void {
  expect(statusLine(replay)).toBe(statusLine(first));
  expect(replay.payload.toString('latin1')).toBe(first.payload.toString('latin1'));
  const kept = linesOf(first).filter((line) => !lost.includes(line));
  expect(linesOf(replay)).toEqual([...kept, 'idempotent-replayed: true'].sort());
  expect([replay.isWhole, first.isWhole]).toEqual([true, true]);
}

const PROBLEMS = {
  'idempotency-key-missing': ['400 Bad Request', 'Idempotency key missing', false],
  'idempotency-key-invalid': ['400 Bad Request', 'Idempotency key invalid', false],
  'idempotency-payload-invalid': ['400 Bad Request', 'Payload invalid', false],
  'idempotency-replay-forbidden': ['403 Forbidden', 'Replay forbidden', false],
  'idempotency-request-in-progress': ['409 Conflict', 'Request in progress', true],
  'idempotency-response-unavailable': ['409 Conflict', 'Response unavailable', false],
  'idempotency-key-expired': ['409 Conflict', 'Idempotency key expired', false],
  'idempotency-payload-unsupported': ['415 Unsupported Media Type', 'Payload unsupported', false],
  'idempotency-key-reused': ['422 Unprocessable Entity', 'Idempotency key reused', false],
  'idempotency-scope-unresolved': ['500 Internal Server Error', 'Tenant unresolved', false],
  'idempotency-fingerprint-failed': ['500 Internal Server Error', 'Fingerprint failed', false],
  'idempotency-work-broken': ['500 Internal Server Error', 'Work not committed', true],
  'idempotency-work-conflict': ['503 Service Unavailable', 'Work gave way', true],
  'idempotency-store-unavailable': ['503 Service Unavailable', 'Idempotency store unavailable', true],
  'idempotency-shutting-down': ['503 Service Unavailable', 'Shutting down', true],
} as const satisfies Record<string, readonly [line: string, title: string, retryable: boolean]>;

export interface ExpectedProblem {
  readonly line?: string;
  readonly typeBase?: string;
  readonly reason?: string;
  /** In seconds. */
  readonly retryAfter?: number;
  readonly resource?: string;
  /** The value of the `Link` line. */
  readonly link?: string;
}

/** It is this problem (RFC 9457): these members and no other, these header lines and no other. */
export function expectProblem(answer: Answer, code: keyof typeof PROBLEMS, expected: ExpectedProblem = {}): void {
  const [usualLine, title, retryable] = PROBLEMS[code];
  const { line = usualLine, typeBase = 'urn:problem-type:', reason, retryAfter, resource, link } = expected;
  expect([statusLine(answer), answer.json()]).toEqual([
    line,
    {
      type: `${typeBase}${code}`,
      title,
      status: Number(line.slice(0, 3)),
      detail: expect.stringMatching(/^[A-Z].+\.$/),
      instance: answer.path.split('?')[0],
      code,
      ...(reason !== undefined && { reason }),
      retryable,
      ...(retryAfter !== undefined && { retryAfter }),
      ...(resource !== undefined && { resource }),
    },
  ]);
  expect(linesOf(answer, ['etag'])).toEqual([
    'cache-control: no-store',
    'content-type: application/problem+json; charset=utf-8',
    ...(link === undefined ? [] : [`link: ${link}`]),
    ...(retryAfter === undefined ? [] : [`retry-after: ${retryAfter}`]),
  ]);
  expect(answer.isWhole).toBe(true);
}

/** A request of this run is told to come back, when the lease of the run's one record will have run out. */
export async function expectInProgress({ records }: Stage, ask: () => Promise<Answer>): Promise<void> {
  const secondsLeft = async () => Math.ceil((await records())[0]!.leaseLeftMs! / 1000);
  const most = await secondsLeft();
  const answer = await ask();
  const retryAfter = Number(answer.header('Retry-After'));
  expectProblem(answer, 'idempotency-request-in-progress', { retryAfter });
  expect(retryAfter).toBeGreaterThanOrEqual(await secondsLeft());
  expect(retryAfter).toBeLessThanOrEqual(most);
}

/** Nothing of the run is left: a retry is as good as the first. */
export async function expectNothingLeft({ payments, records }: Stage): Promise<void> {
  expect([await payments(), await records()]).toEqual([0, []]);
}
