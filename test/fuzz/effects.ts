import { Injectable } from '@nestjs/common';
import { IdempotencyContext } from 'nestjs-idempotency';
import { DataSource, type EntityManager } from 'typeorm';

/** Where handlers leave a row for every time that they have done something. */
@Injectable()
export class Effects {
  constructor(private readonly at: () => { readonly manager: EntityManager; readonly operation: string | null }) {}

  /** `mark` is the request's own. */
  async add(mark: string): Promise<void> {
    const { manager, operation } = this.at();
    await manager.query('INSERT INTO effects (mark, operation) VALUES ($1, $2)', [mark, operation]);
  }
}

/** Writes through the shared transaction where there is one, and else on its own. */
export const effectsProvider = (isProtected: boolean) =>
  isProtected
    ? {
        provide: Effects,
        inject: [IdempotencyContext, DataSource],
        useFactory: (context: IdempotencyContext, { manager }: DataSource) =>
          new Effects(() => (context.isActive ? within(context) : { manager, operation: null })),
      }
    : {
        provide: Effects,
        inject: [DataSource],
        useFactory: ({ manager }: DataSource) => new Effects(() => ({ manager, operation: null })),
      };

function within({ manager, operation }: IdempotencyContext) {
  return { manager, operation: operation && JSON.stringify([operation.endpoint, operation.key]) };
}
