import type { PoolClient } from 'pg';
import type { ClaimStrategy } from '../../libs/idempotency/src/core/attempt.js';
import type { Choices } from './random.js';
import { backendOf, cut, type Passing, type Watch } from './statement-watch.js';

/** What befalls one attempt, and at which of its statements. */
export interface Mishap {
  readonly at: string;
  readonly when: 'before' | 'meanwhile' | 'after';
  /**
   * - `terminate`: the server ends the session
   * - `cut`: the connection breaks
   * - `die`: the process is gone; its last transaction may stay open until somebody notices
   * - `stall`: the process is paused until somebody has taken its operation over
   */
  readonly act: 'terminate' | 'cut' | 'die' | 'stall';
}

/** What a mishap does to the world around its attempt. */
export interface Scene {
  /** No lease of the attempt is renewed from now on. */
  stopRenewals(): void;
  /** Has the server end a session. */
  terminate(backend: number): Promise<void>;
  /** Resolves when another attempt holds the claim that this one had. */
  takenOver(): Promise<void>;
  /** The attempt will never be heard of again; `client` is the connection it leaves behind. */
  died(client: PoolClient, isHoldingRow: boolean): void;
}

/** Everything that an attempt sends, by the way it claims. */
const STATEMENTS = {
  lease: ['idempotency_claim', 'BEGIN', 'INSERT', 'idempotency_record', 'COMMIT', 'ROLLBACK', 'idempotency_release'],
  transaction: [
    'BEGIN',
    'idempotency_read',
    'idempotency_reserve',
    'INSERT',
    'idempotency_insert',
    'COMMIT',
    'ROLLBACK',
  ],
} as const;

/** What befalls an attempt; nothing, mostly. A new connection is dear, so those that cost one are the rarer ones. */
export function randomMishap(choices: Choices, { kind }: ClaimStrategy): Mishap | null {
  // While its recording waits for its COMMIT the row is locked, for two seconds: rare, or nothing else would be seen.
  if (choices.chance(0.0005)) return { at: 'COMMIT', when: 'before', act: 'stall' };
  // Whoever takes a transaction over has the server end its session first.
  if (choices.chance(kind === 'lease' ? 0.08 : 0.03)) {
    const record = kind === 'lease' ? 'idempotency_record' : 'idempotency_insert';
    return { at: choices.oneOf(['INSERT', record]), when: 'before', act: 'stall' };
  }
  const isAtCommit = choices.chance(0.015);
  if (!isAtCommit && !choices.chance(0.05)) return null;
  return {
    at: isAtCommit ? 'COMMIT' : choices.oneOf(STATEMENTS[kind]),
    when: choices.oneOf(['before', 'meanwhile', 'after']),
    act: choices.oneOf(['terminate', 'cut', 'die']),
  };
}

/** Lets everything pass, but for the one statement at which the mishap happens. */
export function mishapWatch(mishap: Mishap, scene: Scene, onHappened: (act: Mishap['act']) => void): Watch {
  let hasHappened = false;
  let isDead = false;
  return (passing) => {
    if (isDead) return never();
    if (hasHappened || passing.statement !== mishap.at) return passing.send();
    hasHappened = true;
    isDead = mishap.act === 'die';
    onHappened(mishap.act);
    switch (mishap.act) {
      case 'stall':
        return stall(passing, scene);
      case 'die':
        return die(passing, mishap, scene);
      case 'terminate':
        return around(passing, mishap.when, () => scene.terminate(backendOf(passing.client)));
      case 'cut':
        return around(passing, mishap.when, () => Promise.resolve(cut(passing.client)));
    }
  };
}

async function stall({ send }: Passing, scene: Scene): Promise<unknown> {
  scene.stopRenewals();
  await scene.takenOver();
  return send();
}

async function around({ send }: Passing, when: Mishap['when'], strike: () => Promise<void>): Promise<unknown> {
  switch (when) {
    case 'before':
      await strike();
      return send();
    case 'meanwhile': {
      const [answer] = await Promise.allSettled([send(), strike()]);
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    }
    case 'after':
      return send().finally(strike);
  }
}

/** A process that dies hears no answer, nor that there will be none. */
async function die({ client, send }: Passing, { at, when }: Mishap, scene: Scene): Promise<never> {
  scene.stopRenewals();
  const sent = when === 'before' ? undefined : send().catch(() => undefined);
  if (when === 'after') await sent;
  const isRecorded = (at === 'idempotency_record' || at === 'idempotency_insert') && when !== 'before';
  scene.died(client, isRecorded || (at === 'COMMIT' && when !== 'after'));
  return never();
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
