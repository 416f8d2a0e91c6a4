import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

import { currentAttempt, openManager } from './attempt-context.js';
import { asPlainParameter } from './plain-parameter.js';

const managerParameter = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const attempt = currentAttempt();
  if (!attempt) {
    throw new Error(
      `@TransactionManager() in ${context.getClass().name}.${context.getHandler().name} found no transaction. ` +
        'Add @Idempotent() to the handler, and IdempotencyModule.forRoot() to the application.',
    );
  }
  return openManager(attempt);
});

/**
 * Hands the handler the `EntityManager` of its transaction: whatever it writes commits together with its answer, or
 * not at all.
 *
 * @example
 * ```ts
 * @Post()
 * @Idempotent()
 * create(@Body() dto: CreatePayment, @TransactionManager() manager: EntityManager) {
 *   return this.payments.create(dto, manager);
 * }
 * ```
 */
export function TransactionManager(): ParameterDecorator {
  return asPlainParameter(managerParameter());
}
