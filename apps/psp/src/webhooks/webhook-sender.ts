import { Injectable } from '@nestjs/common';
import { Webhook } from 'standardwebhooks';
import { Settings } from '../settings/settings.js';
import { Shutdown } from '../shutdown/shutdown.js';
import type { DueEvent } from './outbox.js';

export interface Attempt {
  readonly isAcknowledged: boolean;
  /** A status, or why there was none. */
  readonly outcome: string;
}

const TIMEOUT_MS = 10_000;

/** Sends events over the wire, signed as Standard Webhooks says. */
@Injectable()
export class WebhookSender {
  private readonly webhook: Webhook;

  constructor(
    { webhookSecret }: Settings,
    private readonly shutdown: Shutdown,
  ) {
    this.webhook = new Webhook(webhookSecret);
  }

  async send(url: string, { id, payload, attemptedAt }: DueEvent): Promise<Attempt> {
    try {
      const { status, ok, body } = await fetch(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(attemptedAt.getTime() / 1000)),
          'webhook-signature': this.webhook.sign(id, attemptedAt, payload),
        },
        body: payload,
        redirect: 'manual',
        signal: AbortSignal.any([this.shutdown.signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      await body?.cancel();
      return { isAcknowledged: ok, outcome: String(status) };
    } catch (error) {
      return { isAcknowledged: false, outcome: reasonOf(error) };
    }
  }
}

/** `fetch` says only that it failed, and keeps why in the cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException };
  return cause ? `${message}: ${cause.code ?? cause.message}` : message;
}
