import type { Holding } from './holding.js';
import { isLetPass } from './passage.js';

/** What is done with one call on the response. */
export type Fate = 'hold' | 'pass' | 'swallow';

/** Decides a call that cannot begin an answer. */
export function fateOf(holding: Holding): Fate {
  switch (holding.phase) {
    case 'holding':
      return 'hold';
    case 'passing':
      return 'pass';
    case 'foreign':
      return isLetPass(holding) || !isIntruding(holding) ? 'pass' : 'swallow';
    case 'sealed':
      return isLetPass(holding) ? 'pass' : 'swallow';
  }
}

/** Decides a call that begins an answer where none has begun: while the handler runs, only its own is held. */
export function fateOfAnswering(holding: Holding): Fate {
  if (holding.phase === 'holding' && holding.head === null && holding.handlerRuns && !isOwn(holding)) {
    holding.phase = 'foreign';
    holding.isForeignFromAttempt = holding.options.isFromAttempt();
    holding.options.onForeign();
  }
  return fateOf(holding);
}

/** Whether the call being made right now is the handler writing the response of its route. */
export function isOwn(holding: Holding): boolean {
  return holding.options.writesOwnResponse && holding.options.isFromAttempt();
}

/** Whether a call would disturb the foreign answer: everything after its end, and what the attempt still tries to say. */
function isIntruding(holding: Holding): boolean {
  return holding.hasEnded || (!holding.isForeignFromAttempt && holding.options.isFromAttempt());
}
