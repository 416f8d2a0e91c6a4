import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';

import { gate } from '../../wire/gate.js';

/** Where the handler is when something happens: nothing written yet; the payer's account debited; all written. */
export type Moment = 'entered' | 'debited' | 'written';

/** A handler that waits. */
export interface Standing {
  /** Resolves once it is there. */
  readonly reached: Promise<void>;
  goOn(): void;
}

/** What happens in and around the handler besides its work: nothing, unless a play asks for it. */
@Injectable()
export class Cues implements BeforeApplicationShutdown {
  /** Resolves once the application takes no new work. */
  readonly closing: Promise<void>;
  /** What the answer says of a payment. */
  present: (payment: object) => object = (payment) => payment;
  /** When the application's own timeout gives the next request up. */
  patienceEnds: Promise<void> | null = null;
  private readonly actions = new Map<Moment, () => unknown>();
  private readonly close: () => void;

  constructor() {
    ({ passed: this.closing, open: this.close } = gate());
  }

  /** Has the next handler that reaches the moment do something; only that one, and only once. */
  at(moment: Moment, action: () => unknown): void {
    this.actions.set(moment, action);
  }

  /** Has the next handler that reaches the moment wait there. */
  standAt(moment: Moment): Standing {
    const [reached, goOn] = [gate(), gate()];
    this.at(moment, () => {
      reached.open();
      return goOn.passed;
    });
    return { reached: reached.passed, goOn: goOn.open };
  }

  /** Called by the handler. */
  async reach(moment: Moment): Promise<void> {
    const action = this.actions.get(moment);
    this.actions.delete(moment);
    await action?.();
  }

  beforeApplicationShutdown(): void {
    this.close();
  }
}
