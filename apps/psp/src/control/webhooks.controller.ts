import { Body, Controller, Get, HttpCode, Post, Put, UseGuards } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { Outbox } from '../webhooks/outbox.js';
import { WebhookDispatcher } from '../webhooks/webhook-dispatcher.js';
import type { WebhookEvent } from '../webhooks/webhook-event.entity.js';
import { LoopbackGuard } from './loopback.guard.js';
import { SendWebhooks } from './send-webhooks.dto.js';
import { SetWebhookUrl } from './set-webhook-url.dto.js';

@Controller('control/webhooks')
@UseGuards(LoopbackGuard)
export class WebhooksController {
  constructor(
    private readonly settings: Settings,
    private readonly outbox: Outbox,
    private readonly webhooks: WebhookDispatcher,
  ) {}

  @Get()
  async list(): Promise<object> {
    const events = await this.outbox.list();
    return { url: this.settings.webhookUrl ?? null, events: events.map(viewOf) };
  }

  @Put()
  @HttpCode(204)
  setUrl(@Body() { url }: SetWebhookUrl): void {
    this.settings.webhookUrl = url ?? undefined;
    this.webhooks.lookAgain();
  }

  /** Sends at once what waits, and what was given up; or one event, also when it was delivered. */
  @Post('send')
  @HttpCode(202)
  async send(@Body() { event }: SendWebhooks = {}): Promise<object> {
    const events = await this.outbox.makeDue(event);
    this.webhooks.lookAgain();
    return { events };
  }
}

const viewOf = ({ id, type, data, fault, state, attempts, lastOutcome, createdAt }: WebhookEvent): object => ({
  id,
  type,
  data,
  fault: fault?.kind ?? null,
  state,
  attempts,
  lastOutcome,
  createdAt,
});
