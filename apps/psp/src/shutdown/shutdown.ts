import { setMaxListeners } from 'node:events';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';

/**
 * Tells whatever waits that the app ends, before the server is closed: a call that is held or left without an answer
 * would keep it open for ever.
 */
@Injectable()
export class Shutdown implements OnModuleDestroy {
  private readonly controller = new AbortController();
  readonly signal = this.controller.signal;

  constructor() {
    // Every call may listen.
    setMaxListeners(0, this.signal);
  }

  onModuleDestroy(): void {
    this.controller.abort();
  }
}
