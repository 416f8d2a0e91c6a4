import 'reflect-metadata';

const RECONCILES = Symbol.for('nestjs-idempotency:reconciles');

/** How an operation ended, as its client is told when it comes back. */
export interface ReconciledAnswer {
  readonly status: number;
  /** Sent as JSON; nothing for no body. */
  readonly body?: unknown;
  /** Where the result lives: sent as `Location`. */
  readonly location?: string;
}

/**
 * Has a provider's method finish operations of one named endpoint that no retry came back for.
 *
 * It is given the `IdempotentOperation`, under a claim of its own: steps that are finished give their result, others
 * are made as their terms say, and `commit()` writes. What it returns is recorded as the answer; null leaves the
 * operation as it is, and so does an error, which is reported.
 *
 * @example
 * ```ts
 * @Reconciles('charges') // of the handler with @Idempotent({ endpoint: 'charges', transaction: 'manual' })
 * async finish(operation: IdempotentOperation): Promise<ReconciledAnswer> {
 *   const charge = await operation.step('charge', this.charges.call(operation.key));
 *   return { status: 201, body: await operation.commit((manager) => this.charges.record(manager, charge)) };
 * }
 * ```
 */
export function Reconciles(endpoint: string): MethodDecorator {
  return (_, __, descriptor) => Reflect.defineMetadata(RECONCILES, endpoint, descriptor.value as object);
}

/** The endpoint whose operations a method reconciles, if any. */
export function reconciledEndpoint(method: object): string | undefined {
  return Reflect.getMetadata(RECONCILES, method) as string | undefined;
}
