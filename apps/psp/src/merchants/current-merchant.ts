import type { Request } from 'express';

export interface AuthenticatedRequest extends Request {
  merchantId?: string;
}

/** Who is calling, as `ApiKeyGuard` found out. Throws on a route without the guard. */
export function merchantOf(request: AuthenticatedRequest): string {
  if (request.merchantId === undefined) throw new Error('No ApiKeyGuard stands before this route.');
  return request.merchantId;
}
