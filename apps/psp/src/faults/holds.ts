import { Injectable } from '@nestjs/common';
import type { LoggedCall } from '../calls/call-log.js';
import { Shutdown } from '../shutdown/shutdown.js';
import type { Place } from './fault.js';

/** Where calls stand until they are released. */
@Injectable()
export class Holds {
  private readonly gates = new Map<LoggedCall, () => void>();

  constructor(private readonly shutdown: Shutdown) {}

  /** Resolves when the call is released; rejects when the app ends. */
  async stand(call: LoggedCall, place: Place): Promise<void> {
    const { signal } = this.shutdown;
    signal.throwIfAborted();
    let giveUp!: () => void;
    const released = new Promise<void>((resolve, reject) => {
      giveUp = () => reject(new Error('The app ends.'));
      this.gates.set(call, resolve);
    });
    signal.addEventListener('abort', giveUp);
    call.heldAt = place;
    try {
      await released;
    } finally {
      call.heldAt = null;
      this.gates.delete(call);
      signal.removeEventListener('abort', giveUp);
    }
  }

  list(): LoggedCall[] {
    return [...this.gates.keys()];
  }

  /** Releases the call of this id, or every one; resolves when they are over. */
  async release(id?: string): Promise<LoggedCall[]> {
    const released = this.list().filter((call) => id === undefined || call.id === id);
    for (const call of released) {
      const open = this.gates.get(call);
      this.gates.delete(call);
      open?.();
    }
    await Promise.all(released.map(({ over }) => over));
    return released;
  }
}
