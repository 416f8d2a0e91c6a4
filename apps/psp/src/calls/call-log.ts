import { Injectable } from '@nestjs/common';
import type { CallFault, Place } from '../faults/fault.js';
import type { Call } from './call.js';
import type { Outcome } from './outcome.js';

/** A call as the log knows it, from its arrival on. */
export class LoggedCall {
  readonly over: Promise<void>;
  /** Where it is held, while it is. */
  heldAt: Place | null = null;
  private outcome: Outcome | undefined;
  private resolveOver!: () => void;

  constructor(
    readonly id: string,
    readonly call: Call,
    /** The one it took. */
    readonly fault: CallFault | undefined,
  ) {
    this.over = new Promise((resolve) => (this.resolveOver = resolve));
  }

  /** Undefined where the call failed in a way that nobody commanded. */
  end(outcome: Outcome | undefined): void {
    this.outcome = outcome;
    this.resolveOver();
  }

  toJSON(): object {
    const { operation, key, chargeId, references } = this.call;
    return {
      id: this.id,
      operation,
      key: key ?? null,
      charge: chargeId ?? null,
      references,
      fault: this.fault?.kind ?? null,
      heldAt: this.heldAt,
      outcome: this.outcome?.kind ?? null,
      ...(this.outcome?.kind === 'answer' && {
        status: this.outcome.answer.status,
        isReplay: this.outcome.answer.isReplay ?? false,
      }),
    };
  }
}

const CAPACITY = 10_000;

/** Every call that arrived, in order, whatever became of it; the oldest are dropped beyond ten thousand. */
@Injectable()
export class CallLog {
  private calls: LoggedCall[] = [];
  private arrivals = 0;

  open(call: Call, fault: CallFault | undefined): LoggedCall {
    const logged = new LoggedCall(`call_${++this.arrivals}`, call, fault);
    this.calls.push(logged);
    if (this.calls.length > CAPACITY) this.calls.shift();
    return logged;
  }

  list(): readonly LoggedCall[] {
    return this.calls;
  }

  clear(): void {
    this.calls = [];
  }
}
