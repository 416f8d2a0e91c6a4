import type { Response } from 'express';
import { type Answer, writeAnswer } from './answer.js';

/** What the caller is given. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** The connection is destroyed. */
  | { readonly kind: 'cut' }
  /** Nothing comes, and the connection stays open until the caller gives up. */
  | { readonly kind: 'silence' };

/** Gives the caller the outcome. A silence ends when the app does. */
export function deliver(response: Response, outcome: Outcome, shutdown: AbortSignal): void {
  switch (outcome.kind) {
    case 'answer':
      writeAnswer(response, outcome.answer);
      return;
    case 'cut':
      cut(response);
      return;
    case 'silence':
      keepOpen(response, shutdown);
  }
}

function cut(response: Response): void {
  response.req.socket.destroy();
}

function keepOpen(response: Response, shutdown: AbortSignal): void {
  if (shutdown.aborted) {
    cut(response);
    return;
  }
  const end = (): void => cut(response);
  shutdown.addEventListener('abort', end, { once: true });
  response.once('close', () => shutdown.removeEventListener('abort', end));
}
