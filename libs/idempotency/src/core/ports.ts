import type { Attempt } from './attempt.js';
import type { Claim } from './claim.js';
import type { OperationRecord } from './decision.js';
import type { Operation } from './operation.js';
import type { Recording } from './recording.js';

/** Where records live, and where the work's transactions run. `Tx` is what the handler writes through. */
export interface Store<Tx> {
  /**
   * Takes what one attempt needs to talk to the store (a connection).
   *
   * Rejects when the store is away, or has nothing free within its bound.
   */
  open(attempt: Attempt): Promise<Session<Tx>>;
}

/** One attempt's conversation with the store. Every rejection means that the store's answer is not known. */
export interface Session<Tx> {
  /**
   * Tries to take the operation for what was asked.
   *
   * - `held`: its record stands in the way, or is just being changed: what it says decides
   * - `busy`: somebody is at work on it whose record cannot be seen yet
   */
  claim(fingerprint: Uint8Array): Promise<Claim | 'held' | 'busy'>;
  /** The operation's record as committed now; null when there is none. */
  read(): Promise<OperationRecord | null>;
  /**
   * Opens a transaction for the work of this claim.
   *
   * Rejects too where the operation was taken by somebody else, after an earlier work of the claim had been undone.
   */
  begin(claim: Claim): Promise<Work<Tx>>;
  /**
   * Makes the operation claimable, at once or where it has steps after `afterMs` milliseconds, if it is still held by
   * this claim.
   *
   * True proves that nothing of this claim has been committed, nor can be. It waits for a COMMIT under way, and rejects
   * when that takes too long.
   */
  release(claim: Claim, afterMs?: number): Promise<boolean>;
  /** Gives back what `open` took, until it is needed again: nothing of the store is held during an outside call. */
  rest(): void;
  /**
   * Commits, durably, that an outside call is about to be made, and keeps the claim alive for as long as it may take.
   *
   * What is known of the step, this try included; null when the claim is lost.
   */
  intend(claim: Claim, intent: Intent): Promise<KnownStep | null>;
  /** Takes an intent back: its call certainly had no effect. False when the claim is lost. */
  withdraw(claim: Claim, step: string): Promise<boolean>;
  /** Keeps, durably, what became of a call; false when the claim is lost. */
  finish(claim: Claim, step: string, result: string): Promise<boolean>;
  /** Gives back what `open` took. Harmless when called again. */
  close(): void;
}

/** An operation in progress, as those see it who come from beside and not with a request. */
export interface UnfinishedOperation {
  readonly operation: Operation;
  /** What was asked, as it is on record: who has no request to make a fingerprint of takes the operation over with it. */
  readonly fingerprint: Uint8Array;
}

/** Operations that have begun outside calls and that nobody works on. */
export interface Backlog {
  /**
   * Those of these endpoints whose last call was announced at least `afterMs` ago, oldest first.
   *
   * Each may be taken by somebody meanwhile: its claim decides.
   */
  abandoned(endpoints: readonly string[], afterMs: number, limit: number): Promise<UnfinishedOperation[]>;
}

/** An outside call of an operation in progress, as it was when somebody looked at it. */
export interface SeenStep {
  readonly operation: Operation;
  readonly step: string;
  /** What the operation was claimed by last; with the attempt and the tries it tells whether anything has come since. */
  readonly token: string | null;
  readonly attempts: number;
  /** How often the call had been announced. */
  readonly tries: number;
  /** Somebody may be at work on the operation. */
  readonly isHeld: boolean;
  /** What became of the call was on record. */
  readonly isKnown: boolean;
}

/** What somebody found out about outside calls, put on record past any attempt. */
export interface Outcomes {
  /** The call of an operation in progress; null where there is no such operation, or it has announced no such call. */
  find(operation: Operation, step: string): Promise<SeenStep | null>;
  /**
   * Keeps the result durably, or with null takes the intent back, and ends the claim that made the call.
   *
   * False, and nothing was changed, where somebody is at work on the operation or has been since it was looked at.
   */
  put(seen: SeenStep, result: string | null): Promise<boolean>;
}

/** The announcement of one outside call. */
export interface Intent {
  /** The step's name, unique within its operation. */
  readonly step: string;
  /** What the provider is to know the step by, if no earlier try has been made under another key. */
  readonly providerKey: string;
  /** How long the claim has to outlive this moment, in milliseconds. */
  readonly leaseMs: number;
}

/** What the store knows of a step. */
export interface KnownStep {
  readonly providerKey: string;
  /** How often the call was announced, this time included: above 1, an earlier call may have had its effect. */
  readonly tries: number;
  /** What became of it, as it was kept; null while nobody knows. */
  readonly result: string | null;
}

/** One transaction of a claim's work. */
export interface Work<Tx> {
  readonly tx: Tx;
  /**
   * A statement of it, those that end it included, had to give way to other transactions: what came of it says nothing
   * about the operation.
   */
  readonly metConflict: boolean;
  /** Tells the store that the worker lives, so that it does not end a transaction in which nothing is said. */
  keepAlive(): void;
  /**
   * Ends the writing: what is in flight is awaited, what comes later is refused.
   *
   * Rejects with `idempotency-work-broken` when the transaction is not in the state its begin left it in.
   */
  seal(): Promise<void>;
  /** Writes the recording, if the claim is still ours and this is still its transaction; false when not. */
  record(recording: Recording): Promise<boolean>;
  /** Rejects unless the store confirmed the commit; after a rejection only `Session.release` can tell what happened. */
  commit(): Promise<void>;
  /** Undoes everything and refuses what comes later. Never rejects. */
  rollback(): Promise<void>;
}

/** One claim that is being kept alive. */
export interface Lease {
  readonly operation: Operation;
  readonly claim: Claim;
  readonly leaseMs: number;
  /** Told whenever the claim was found to be still ours. */
  readonly onRenewed: () => void;
  /** Told once when the claim turns out to be taken over. */
  readonly onLost: () => void;
}

/** Keeps claims alive while their work runs. */
export interface LeaseKeeper {
  /** Renews the lease from now on; the returned function ends that. */
  keep(lease: Lease): () => void;
}

/** Extends one lease; false when the claim was taken over. */
export interface LeaseRenewal {
  renew(lease: Lease): Promise<boolean>;
}

/** What one batch of a sweep has cleared away. */
export interface Swept {
  readonly count: number;
  /** The time that the next batch begins at, as the store writes it; null where nothing was done. */
  readonly last: string | null;
}

/**
 * Clears away records past their retention that nobody is at work on; never one that knows of outside calls. What is
 * cleared is deleted, or where its key is to be remembered, reduced to a tombstone.
 */
export interface RecordSweep {
  /** Clears at most `batch` of those whose time came at `from` or later, the first first. */
  sweep(batch: number, from: string): Promise<Swept>;
  /** The time that comes after that of the first such record; null where there is none. */
  beyond(from: string): Promise<string | null>;
}

/** How the tables are filled, told at little cost: no figure is worth a scan. */
export interface TableFigures {
  /** How many records there are by state, as the store estimates it; empty where it has no idea. */
  records(): Promise<Readonly<Record<string, number>>>;
  /** Operations with a call of which nobody knows whether it has happened, and that nobody works on. */
  unknown(): Promise<{ readonly count: number; readonly oldestAgeMs: number }>;
  /**
   * How long the oldest record that a sweep may delete has been past its retention; 0 where there is none, null where a
   * bounded look does not tell.
   */
  sweepLagMs(): Promise<number | null>;
}

/** What a report is about, so that an operator finds it: an operation, or no more than its endpoint. */
export type Subject = Operation | { readonly endpoint: string };

/** Told of what must not fail the work nor vanish: an operator wants to read it. The message names no key. */
export type Report = (message: string, error: unknown, subject?: Subject) => void;
