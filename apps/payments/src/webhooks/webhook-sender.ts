import type { ExecutionContext, RawBodyRequest } from '@nestjs/common';
import type { Request } from 'express';

export interface SignedRequest extends RawBodyRequest<Request> {
  /** Who has signed it. */
  sender?: 'provider';
}

/** Who sends the webhook, as `WebhookSignatureGuard` found out; undefined on a route without the guard. */
export const senderOf = (context: ExecutionContext): string | undefined =>
  context.switchToHttp().getRequest<SignedRequest>().sender;

/** The name of a delivery, the same on every attempt. It is signed, and so the sender's own. */
export const deliveryOf = (context: ExecutionContext): string | undefined =>
  context.switchToHttp().getRequest<Request>().get('webhook-id');
