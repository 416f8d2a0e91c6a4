import type { Logger } from '@nestjs/common';

/** Tells once that a broker is away, however often it is tried, and once that it is there. */
export class BrokerOutage {
  private isAway = false;

  constructor(
    private readonly logger: Logger,
    url: string,
  ) {
    // What else stands in the URL may be a secret.
    this.host = new URL(url).host;
  }

  private readonly host: string;

  begins(error: unknown): void {
    if (this.isAway) return;
    this.isAway = true;
    const reason =
      error instanceof Error ? error.message || String((error as NodeJS.ErrnoException).code) : 'it is gone';
    this.logger.error(`${this.host} cannot be reached (${reason}). It is tried again and again; HTTP works meanwhile.`);
  }

  ends(): void {
    if (!this.isAway) return;
    this.isAway = false;
    this.logger.warn(`${this.host} is there again.`);
  }
}
