import { createParamDecorator, type ExecutionContext } from '@nestjs/common';

import { currentAttempt } from './attempt-context.js';

const managerParameter = createParamDecorator((_: undefined, context: ExecutionContext) => {
  const attempt = currentAttempt();
  if (!attempt) {
    throw new Error(
      `@TransactionManager() in ${context.getClass().name}.${context.getHandler().name} found no transaction. ` +
        'Add @Idempotent() to the handler, and IdempotencyModule.forRoot() to the application.',
    );
  }
  return attempt.manager;
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
  return (target, method, index) => {
    managerParameter()(target, method, index);
    if (method === undefined) return;
    // A ValidationPipe with `validateCustomDecorators` would take the manager for a DTO to be validated.
    const types = Reflect.getMetadata('design:paramtypes', target, method) as unknown[] | undefined;
    if (types) {
      const kept = types.map((type, at) => (at === index ? Object : type));
      Reflect.defineMetadata('design:paramtypes', kept, target, method);
    }
  };
}
