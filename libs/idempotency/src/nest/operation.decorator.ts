import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

import type { Operation as NamedOperation } from '../core/operation.js';
import { currentAttempt } from './attempt-context.js';
import { asPlainParameter } from './plain-parameter.js';

const operationParameter = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const handle = currentAttempt()?.handle;
  if (!handle) {
    throw new Error(
      `@Operation() in ${context.getClass().name}.${context.getHandler().name} found no operation. ` +
        'Add @Idempotent() to the handler, and require a key.',
    );
  }
  return handle;
});

/** What happens at most once; see the decorator of the same name for the running one. */
export type Operation = NamedOperation;

/**
 * Hands the handler its `IdempotentOperation`: steps for outside calls, and the transaction that ends them.
 *
 * @example
 * ```ts
 * @Post(':id/capture')
 * @Idempotent({ transaction: 'manual' })
 * async capture(@Operation() operation: IdempotentOperation, @Param('id') id: string) {
 *   const charge = await operation.step('capture', ({ providerKey, signal }) =>
 *     this.psp.capture(id, { idempotencyKey: providerKey, signal }),
 *   );
 *   return operation.commit((manager) => this.payments.markCaptured(manager, id, charge));
 * }
 * ```
 */
export function Operation(): ParameterDecorator {
  return asPlainParameter(operationParameter());
}
