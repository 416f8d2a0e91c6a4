import { Injectable, Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { Shutdown } from '../shutdown/shutdown.js';
import { Bell } from './bell.js';
import { type DueEvent, Outbox, type WrittenEvent } from './outbox.js';
import { type Attempt, WebhookSender } from './webhook-sender.js';

const AFTER_AN_ERROR_MS = 1_000;

/** A timer that is set for longer than it can hold goes off at once. */
const LONGEST_WAIT_MS = 60_000;

/** Delivers what is due, one after the other in the order it was written; what has to wait lets the others pass. */
@Injectable()
export class WebhookDispatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  private readonly bell = new Bell();
  private readonly waiting = new Map<string, () => void>();
  private delivering: Promise<void> | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly outbox: Outbox,
    private readonly sender: WebhookSender,
    private readonly shutdown: Shutdown,
  ) {}

  onApplicationBootstrap(): void {
    this.shutdown.signal.addEventListener('abort', () => this.lookAgain());
    this.delivering = this.deliver();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.delivering;
  }

  /** Something may be due that was not before. */
  lookAgain(): void {
    this.bell.ring();
  }

  /** Sees to an event that was committed; where its fault says so, until it is acknowledged or given up. */
  async tell({ id, fault }: WrittenEvent): Promise<void> {
    if (fault?.kind !== 'webhook_before_answer') {
      this.lookAgain();
      return;
    }
    const settled = new Promise<void>((resolve) => this.waiting.set(id, resolve));
    this.lookAgain();
    try {
      // It may have been delivered before we began to wait.
      if ((await this.outbox.stateOf(id)) === 'pending') await settled;
    } finally {
      this.waiting.delete(id);
    }
  }

  private async deliver(): Promise<void> {
    while (!this.shutdown.signal.aborted) {
      try {
        await this.deliverNext();
      } catch (error) {
        this.logger.error(error);
        await this.bell.rung(AFTER_AN_ERROR_MS);
      }
    }
    this.letAllGo();
  }

  private async deliverNext(): Promise<void> {
    const { webhookUrl } = this.settings;
    if (webhookUrl === undefined) {
      this.letAllGo();
      return this.bell.rung(undefined);
    }
    const event = await this.outbox.take();
    if (event) return this.attempt(webhookUrl, event);
    return this.bell.rung(Math.min(LONGEST_WAIT_MS, (await this.outbox.dueInMs()) ?? LONGEST_WAIT_MS));
  }

  private async attempt(url: string, event: DueEvent): Promise<void> {
    const { isAcknowledged, outcome } = isLost(event) ? LOST : await this.sender.send(url, event);
    if (isAcknowledged) {
      await this.outbox.acknowledge(event.id, outcome);
      this.letGo(event.id);
      if (event.fault?.kind === 'duplicate_webhook') await this.sender.send(url, event);
    } else if (this.shutdown.signal.aborted) {
      await this.outbox.putBack(event);
    } else if ((await this.outbox.fail(event, outcome)) === 'given_up') {
      this.letGo(event.id);
    }
  }

  private letGo(id: string): void {
    this.waiting.get(id)?.();
  }

  private letAllGo(): void {
    for (const id of this.waiting.keys()) this.letGo(id);
  }
}

const LOST: Attempt = { isAcknowledged: false, outcome: 'lost on the way' };

const isLost = ({ fault, attempts }: DueEvent): boolean => fault?.kind === 'lost_webhook' && attempts <= fault.attempts;
