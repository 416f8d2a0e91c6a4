import { type Ending, ENDINGS, type EndingName } from './endings.js';
import { type Asked, claimOf, nameOf, type Operation } from './operations.js';

/** What is due to a client. */
export type Answer =
  /** What the handler of this attempt answered. */
  | { readonly kind: 'own'; readonly ending: EndingName; readonly attempt: number }
  /** The same given back, marked as a replay. */
  | { readonly kind: 'replay'; readonly ending: EndingName; readonly attempt: number }
  | {
      readonly kind: 'problem';
      readonly status: number;
      readonly code: string;
      readonly reason?: string;
      readonly retryAfter?: number;
    }
  /** The application's own refusal of a body that does not fit. */
  | { readonly kind: 'unfit' }
  /** An answer that the application gave while the handler was still running. */
  | { readonly kind: 'timeout' };

/** An attempt whose handler runs. */
export interface Attempt {
  readonly number: number;
  readonly operation: Operation;
  readonly asked: Asked;
  /** Its client waits for the answer. */
  isHeard: boolean;
  /** Somebody else has answered its client. */
  isForeign: boolean;
  /** Its database session is gone. */
  isCut: boolean;
}

export type OperationRecord = { readonly operation: Operation; readonly asked: Asked; isExpired: boolean } & (
  | { readonly state: 'in progress'; readonly by: number; isLeaseLive: boolean }
  | {
      readonly state: 'completed';
      readonly by: number;
      readonly status: number;
      /** What whoever asks again is given. */
      readonly answer: Extract<Answer, { kind: 'replay' | 'problem' }>;
    }
);

/** The least wait a client is asked for, and the cap: leases are longer here. */
const RETRY_AFTER = { least: 1, cap: 60 };

const IN_PROGRESS = { kind: 'problem', status: 409, code: 'idempotency-request-in-progress' } as const;
const REUSED = { kind: 'problem', status: 422, code: 'idempotency-key-reused' } as const;
const NOT_KEPT = { kind: 'problem', status: 409, code: 'idempotency-response-unavailable' } as const;
const WORK_CONFLICT = { kind: 'problem', status: 503, code: 'idempotency-work-conflict', retryAfter: 1 } as const;
const UNAVAILABLE = { kind: 'problem', status: 503, code: 'idempotency-store-unavailable', retryAfter: 1 } as const;

const GAVE_WAY = 'gave way to another transaction';
const CHOSE_A_FAILURE = 'chose a failure';
const SPOILT = 'returned what nobody can serialise';
const SWALLOWED = 'swallowed a database error';

/**
 * What the library promises, small enough to be read: which answer is due, and what stands in the tables.
 *
 * One record an operation, and the attempts whose handlers run. It knows no clock: leases and retentions run out when
 * it is told so.
 */
export class Model {
  readonly records = new Map<string, OperationRecord>();
  readonly underWay: Attempt[] = [];
  /** The attempts whose work stands. */
  readonly effects: number[] = [];
  /** What has happened, for whoever counts whether everything does. */
  readonly happened: string[] = [];

  /** `nextAttempt` is the number of the attempt that comes next. */
  constructor(public nextAttempt: number) {}

  /** A request comes in: the answer that is due at once, or its handler is entered and the attempt under way. */
  arrive(operation: Operation, asked: Asked): Answer | 'enters' {
    const number = this.nextAttempt++;
    const name = nameOf(operation);
    const found = this.inTheWay(operation, asked);
    if (found !== 'free') return this.note(`arrival: ${describe(found)}`, found);
    const before = this.records.get(name);
    const isLease = claimOf(operation) === 'lease';
    // No pipe lets it through: the key can carry a body that fits.
    if (asked === 'unfit') {
      if (isLease) this.records.delete(name);
      return this.note('pipe failure', { kind: 'unfit' });
    }
    if (before) this.happened.push(before.isExpired ? 'expired: anew' : 'takeover');
    if (isLease) {
      const isExpired = false;
      this.records.set(name, { operation, asked, isExpired, state: 'in progress', by: number, isLeaseLive: true });
    }
    this.underWay.push({ number, operation, asked, isHeard: true, isForeign: false, isCut: false });
    return 'enters';
  }

  /**
   * Whether what comes of it can be told at once. Where a session is gone and another attempt works in its place, what
   * became of the first is only known when the second is done.
   */
  canEnd({ operation, isCut }: Attempt): boolean {
    return !isCut || !this.isLocked(operation);
  }

  /** The handler of an attempt ends; the answer that its client gets then. */
  end(attempt: Attempt, ending: EndingName): Answer {
    this.underWay.splice(this.underWay.indexOf(attempt), 1);
    const { number, operation, asked } = attempt;
    const name = nameOf(operation);
    const wish = this.wish(attempt, ending);
    const own = this.ownAnswer(attempt, ending);
    if (!this.isOurs(attempt)) return this.lost(attempt, wish, own);
    const isLease = claimOf(operation) === 'lease';
    const canCommit = !attempt.isCut && ending !== SWALLOWED;
    if (wish === 'release' || (wish === 'commit' && !canCommit)) {
      if (isLease) this.records.delete(name);
      return this.note('released', own);
    }
    // What the application would have made of the value, nobody saw: its status is the handler's own.
    const answer = attempt.isForeign ? NOT_KEPT : ({ kind: 'replay', ending, attempt: number } as const);
    // A lease had its retention from its claim on.
    const isExpired = isLease && this.records.get(name)!.isExpired;
    const status = attempt.isForeign && ending === SPOILT ? ENDINGS.done.status : ENDINGS[ending].status;
    this.records.set(name, { operation, asked, isExpired, state: 'completed', by: number, status, answer });
    if (wish === 'commit') this.effects.push(number);
    return this.note(wish === 'commit' ? 'committed' : 'refusal recorded', own);
  }

  /** Records past their retention are deleted, where nobody is at work. */
  sweep(): void {
    for (const [name, record] of this.records) if (isForgotten(record)) this.records.delete(name);
  }

  /** What stands in the way of a request, if anything does. */
  private inTheWay(operation: Operation, asked: Asked): 'free' | Answer {
    // Nobody can see what is being asked in a transaction: in flight, another request is told to wait as well.
    if (this.isLocked(operation)) return { ...IN_PROGRESS, retryAfter: RETRY_AFTER.least };
    const record = this.records.get(nameOf(operation));
    if (!record || isForgotten(record)) return 'free';
    if (record.asked !== asked) return REUSED;
    if (record.state === 'completed') return record.answer;
    return record.isLeaseLive ? { ...IN_PROGRESS, retryAfter: RETRY_AFTER.cap } : 'free';
  }

  /** Whether a transaction that works on it holds it. One whose session is gone holds nothing any more. */
  private isLocked(operation: Operation): boolean {
    if (claimOf(operation) === 'lease') return false;
    return this.underWay.some((attempt) => nameOf(attempt.operation) === nameOf(operation) && !attempt.isCut);
  }

  /** Whether nobody has taken the operation over. */
  private isOurs({ number, operation, asked }: Attempt): boolean {
    if (claimOf(operation) === 'transaction') return this.inTheWay(operation, asked) === 'free';
    const record = this.records.get(nameOf(operation));
    return record?.state === 'in progress' && record.by === number;
  }

  /** What the answer asks for. */
  private wish({ isForeign }: Attempt, ending: EndingName): Ending['then'] {
    const { how, then } = ENDINGS[ending];
    if (!isForeign) return then;
    // Somebody else has answered: what the application would make of the value, or of the error, nobody sees.
    return how === 'returns' && ending !== CHOSE_A_FAILURE ? 'commit' : 'release';
  }

  private ownAnswer({ number, isCut }: Attempt, ending: EndingName): Answer {
    const { status, then, code }: Ending = ENDINGS[ending];
    if (isCut && then === 'commit') return UNAVAILABLE;
    // Nobody is there any more to tell it to give way.
    if (isCut && ending === GAVE_WAY) return { kind: 'own', ending: 'of an error', attempt: number };
    if (code === undefined) return { kind: 'own', ending, attempt: number };
    return ending === GAVE_WAY ? WORK_CONFLICT : { kind: 'problem', status, code };
  }

  /** Another worker took the operation over: its client gets the winner's recording, or what stands in the way. */
  private lost({ operation, asked }: Attempt, wish: Ending['then'], own: Answer): Answer {
    const found = this.inTheWay(operation, asked);
    if (found !== 'free') return this.note(`lost: ${describe(found)}`, found);
    // Nobody has it any more: only an answer that nobody has to keep can be given.
    return this.note('lost: to nobody', wish === 'release' ? own : UNAVAILABLE);
  }

  private note<T>(what: string, result: T): T {
    this.happened.push(what);
    return result;
  }
}

/** Past its retention, with nobody at work: whatever is asked, it is a new operation. */
function isForgotten(record: OperationRecord): boolean {
  return record.isExpired && (record.state === 'completed' || !record.isLeaseLive);
}

function describe(answer: Answer): string {
  return answer.kind === 'problem' ? answer.code : answer.kind;
}
