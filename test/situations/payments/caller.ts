import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';

/** Whoever a request comes from, as its API key tells. */
export interface Caller {
  readonly merchant: string;
  readonly role: 'owner' | 'clerk';
}

const CALLERS: ReadonlyMap<string, Caller> = new Map([
  ['sk_acme_owner', { merchant: 'acme', role: 'owner' }],
  ['sk_acme_clerk', { merchant: 'acme', role: 'clerk' }],
]);

interface Authenticated {
  readonly headers: { readonly authorization?: string };
  caller?: Caller;
}

/** Lets nobody in whose API key is unknown or revoked. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  private readonly revoked = new Set<string>();

  revoke(apiKey: string): void {
    this.revoked.add(apiKey);
  }

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Authenticated>();
    const apiKey = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const caller = this.revoked.has(apiKey) ? undefined : CALLERS.get(apiKey);
    if (!caller) throw new UnauthorizedException();
    request.caller = caller;
    return true;
  }
}

/** Who the guard found out that the request comes from. */
export function callerOf(context: ExecutionContext): Caller | undefined {
  return context.switchToHttp().getRequest<Authenticated>().caller;
}
