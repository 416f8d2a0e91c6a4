import type { ExecutionContext } from '@nestjs/common';

export function accountOf(context: ExecutionContext): string {
  return context.switchToHttp().getRequest<{ readonly user: { readonly accountId: string } }>().user.accountId;
}
