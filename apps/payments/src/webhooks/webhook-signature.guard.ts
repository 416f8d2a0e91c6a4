import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { Settings } from '../settings/settings.js';
import { signatureInvalid } from './webhook-problems.js';
import type { SignedRequest } from './webhook-sender.js';

/** Lets in what the provider has signed (Standard Webhooks): the very bytes, their id, and a time not long ago. */
@Injectable()
export class WebhookSignatureGuard implements CanActivate {
  private readonly webhook: Webhook;

  constructor({ webhookSecret }: Settings) {
    this.webhook = new Webhook(webhookSecret);
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<SignedRequest>();
    const { rawBody = Buffer.alloc(0), headers } = request;
    try {
      this.webhook.verify(rawBody, headers as Record<string, string>, { jsonParse: false });
    } catch (error) {
      if (error instanceof WebhookVerificationError) throw signatureInvalid(error.message);
      throw error;
    }
    request.sender = 'provider';
    return true;
  }
}
