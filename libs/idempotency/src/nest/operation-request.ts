import type { Envelope } from '../messaging/envelope.js';
import type { IdempotentOptions } from './options.js';

/** What can be said of one operation beside its name; what is not given is taken from the module. */
export type OperationOptions = Pick<
  IdempotentOptions,
  | 'lease'
  | 'leaseMs'
  | 'retention'
  | 'retentionMs'
  | 'tombstones'
  | 'tombstonesMs'
  | 'patience'
  | 'patienceMs'
  | 'claim'
  | 'isolation'
  | 'conflictRetries'
  | 'recording'
  | 'protect'
  | 'transaction'
>;

/** One operation of plain code. */
export interface OperationRequest extends OperationOptions {
  /** Whose key space. Left out only where the module says `singleTenant`. */
  readonly tenant?: string;
  /** Which kind of operation, such as `nightly-invoice`. */
  readonly endpoint: string;
  /** The name of this one operation, such as `2026-11:acct_1`: 1 to 255 printable ASCII characters. */
  readonly key: string;
  /** What is asked: bytes or a JSON value. Another one under the same key is refused. Undefined: the key says it all. */
  readonly payload: unknown;
  /** Inside a running operation: be a part of it, in its transaction, instead of failing. Default false. */
  readonly join?: boolean;
  /** Ends the waiting for an operation in progress, where `patience` asks for it. */
  readonly signal?: AbortSignal;
}

/** One delivered message, in the hands of code that settles it itself. */
export interface ConsumedMessage extends OperationOptions, Envelope {
  /** Whose key space. Left out only where the module says `singleTenant`. */
  readonly tenant?: string;
  /** The name of the consumer: two consumers of one message are independent of each other. */
  readonly endpoint: string;
  /** The message's id, where it is not to be found by the conventions; see `messageIdOf()`. */
  readonly key?: string;
  /** See `messages.maxTries`. */
  readonly maxTries?: number;
}

const OPTION_NAMES: { readonly [Name in keyof Required<OperationOptions>]: true } = {
  lease: true,
  leaseMs: true,
  retention: true,
  retentionMs: true,
  tombstones: true,
  tombstonesMs: true,
  patience: true,
  patienceMs: true,
  claim: true,
  isolation: true,
  conflictRetries: true,
  recording: true,
  protect: true,
  transaction: true,
};

/** What can be said of one operation, and whether it is an option that endpoints have too. */
const FOR_OPERATIONS: { readonly [Name in keyof Required<OperationRequest>]: boolean } = {
  ...OPTION_NAMES,
  endpoint: true,
  tenant: false,
  key: false,
  payload: false,
  join: false,
  signal: false,
};

const FOR_MESSAGES: { readonly [Name in keyof Required<ConsumedMessage>]: boolean } = {
  ...OPTION_NAMES,
  maxTries: true,
  endpoint: true,
  tenant: false,
  key: false,
  payload: false,
  headers: false,
  messageId: false,
};

/** @throws {Error} naming what is no option of an operation. */
export function operationOptions(request: OperationRequest): IdempotentOptions {
  return optionsOf(request, FOR_OPERATIONS);
}

/** @throws {Error} naming what is no option of a message. */
export function messageOptions(message: ConsumedMessage): IdempotentOptions {
  return optionsOf(message, FOR_MESSAGES);
}

function optionsOf(request: object, names: { readonly [name: string]: boolean }): IdempotentOptions {
  const given = Object.entries(request).filter(([, value]) => value !== undefined);
  for (const [name] of given) {
    if (Object.hasOwn(names, name)) continue;
    throw new Error(`IdempotencyService: there is no option \`${name}\`. There are: ${Object.keys(names).join(', ')}.`);
  }
  // One that is missing is refused as an empty one is.
  return { endpoint: '', ...Object.fromEntries(given.filter(([name]) => names[name])) };
}
