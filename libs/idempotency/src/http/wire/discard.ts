import { isHeadOut } from './headers-sent.js';
import type { Holding } from './holding.js';
import { writeOwnAnswer } from './own-answer.js';
import { dropSources } from './piped-sources.js';
import { ignoreEvents } from './response-events.js';
import type { OwnAnswer } from './wire-answer.js';

/** Throws the held answer away, writes `problem` in its place where that is still possible, and swallows every later call. */
export function discard(holding: Holding, problem: OwnAnswer): void {
  const { res, destruction, beneath } = holding;
  if (holding.phase === 'passing' || holding.isSuperseded || isHeadOut(res)) return;
  ignoreEvents(res);
  if (destruction === null) writeOwnAnswer(holding, problem, holding.options.declaredHeaders ?? []);
  else beneath.destroy.apply(res, destruction);
  letWritersFinish(holding);
}

/** Whoever waits for what he wrote to be taken goes on: into a response that swallows everything. */
function letWritersFinish(holding: Holding): void {
  const { res, calls, waiting } = holding;
  holding.calls = [];
  holding.waiting = [];
  dropSources(holding);
  for (const { method, args } of calls) {
    if (method === 'end') waiting.push(...(args.filter((arg) => typeof arg === 'function') as typeof waiting));
  }
  for (const callback of waiting) process.nextTick(callback);
  if (holding.isOversized) process.nextTick(() => res.emit('drain'));
}
