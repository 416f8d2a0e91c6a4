import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Merchant } from './merchant.entity.js';

export interface AuthenticatedRequest extends Request {
  merchant?: Merchant;
}

/** Who is calling, as `ApiKeyGuard` found out; undefined on a route without the guard. */
export const merchantOf = (context: ExecutionContext): Merchant | undefined =>
  context.switchToHttp().getRequest<AuthenticatedRequest>().merchant;

export const CurrentMerchant = createParamDecorator((_: unknown, context: ExecutionContext) => merchantOf(context));
