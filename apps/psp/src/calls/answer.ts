import type { Response } from 'express';
import type { ProblemException } from '../problems/problem.exception.js';

export interface Answer {
  readonly status: number;
  /** JSON, as it goes over the wire. */
  readonly body: string;
  /** It was kept under the key of an earlier call. */
  readonly isReplay?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export const answerOf = (problem: ProblemException, headers: Answer['headers'] = {}): Answer => ({
  status: problem.getStatus(),
  body: JSON.stringify(problem.getResponse()),
  headers,
});

export function writeAnswer(response: Response, { status, body, isReplay = false, headers = {} }: Answer): void {
  response.status(status).type(status < 400 ? 'application/json' : 'application/problem+json');
  if (isReplay) response.set('Idempotent-Replayed', 'true');
  response.set(headers).send(body);
}
