import type { ExecutionContext, ModuleMetadata } from '@nestjs/common';

import type { Isolation } from '../core/attempt.js';
import type { BodyProtection } from '../core/body-protection.js';
import type { OutcomeEvent } from '../core/observation.js';
import type { Operation } from '../core/operation.js';
import type { FingerprintOptions } from '../http/fingerprint-options.js';
import type { ErrorRule } from '../http/judge.js';
import type { Envelope } from '../messaging/envelope.js';
import type { ParkReason, Settlement } from '../messaging/settlement.js';
import type { TransactionOpener } from '../storage/joined-transactions.js';
import type { Duration } from './duration.js';

type Awaitable<T> = T | Promise<T>;

/** What a caller's right to a recording can be judged by. */
export interface ReplayedRecord {
  readonly operation: Operation;
  /** The recorded status. */
  readonly status: number;
  /** Where the operation's result lives, such as the answer's `Location`; null when nothing names it. */
  readonly resource: string | null;
}

/**
 * Says what a request asks: two requests to one route with the same path parameters are the same if it returns the same
 * string, the same bytes or an equal JSON value, or a promise of it.
 *
 * Query, headers, media type and body count only as far as the function takes them up; of the body it finds what the
 * application's parsers made of it. An `HttpException` it throws is answered as it is. Any other error, `undefined`,
 * and what is no JSON value (a bigint, a function, a Date, an object of a class) are answered 500: the request is not
 * run.
 */
export type Fingerprinter = (context: ExecutionContext) => unknown;

/** Options that the module sets for all endpoints and `@Idempotent()` for one. */
export interface EndpointOptions {
  /** How long a claim is honoured while its worker gives no sign of life. Default `60s`. */
  readonly lease?: Duration;
  /** The same in milliseconds. */
  readonly leaseMs?: number;
  /**
   * How long a recording can be replayed, from the claim on; longer than any caller goes on retrying, and than work may
   * take. Default `24h`.
   */
  readonly retention?: Duration;
  /** The same in milliseconds. */
  readonly retentionMs?: number;
  /**
   * How long after its retention a key is still remembered as used: it is then answered 409 `idempotency-key-expired`
   * instead of being taken for a new operation. What is kept is a small row. Default: not at all.
   */
  readonly tombstones?: Duration;
  /** The same in milliseconds; 0 for an endpoint whose keys are forgotten where those of the others are not. */
  readonly tombstonesMs?: number;
  /** Whether a request without a key is refused. Default true; if false, it runs without any protection. */
  readonly required?: boolean;
  /** Names of response headers to replay besides the usual ones. */
  readonly replayHeaders?: readonly string[];
  /**
   * How long a duplicate waits for the operation in progress before it is told to come back. It holds no connection
   * meanwhile. Default: not at all.
   */
  readonly patience?: Duration;
  /** The same in milliseconds; 0 for an endpoint that does not wait where the others do. */
  readonly patienceMs?: number;
  /**
   * How an operation is claimed. Default `lease`: by a committed row. `transaction`: by the work's own transaction,
   * for handlers all of whose effects are writes through the shared manager.
   */
  readonly claim?: 'lease' | 'transaction';
  /** The isolation of the work's transaction, where it is its own claim. Default `READ COMMITTED`. */
  readonly isolation?: Isolation;
  /**
   * How often work is run again, at once and inside the same request, after the database made it give way to other
   * transactions (a deadlock, a serialization failure). Default 0: the caller is asked to retry.
   */
  readonly conflictRetries?: number;
  /**
   * What becomes of a failure that the handler threw: recorded and replayed like any answer, or released so that a
   * retry runs again. Given the error as thrown and the status as sent; undefined leaves it to the usual rule.
   */
  readonly errors?: ErrorRule | null;
  /**
   * When two requests under one key are the same; if not, the second is answered 422. By default they are if the
   * handler would be given equal path parameters, query and body, of the same media type. Options that an endpoint
   * gives replace the module's.
   */
  readonly fingerprint?: FingerprintOptions | Fingerprinter;
  /** What is kept of answers. Default `full`; `status-only` leaves out the body, such as where it holds a secret. */
  readonly recording?: 'full' | 'status-only';
  /** Encrypts recorded bodies at rest; see `aes256Gcm()`. Replayed bodies are decrypted. */
  readonly protect?: BodyProtection | null;
  /**
   * What is recorded where somebody else, such as a timeout of the application's, had answered before the handler
   * returned. Default `omit`: the status, without a body. `value`: the value that the handler returned, as it stands.
   * Interceptors outside the library's do not see it: not for values from which they would remove something.
   */
  readonly lateAnswer?: 'omit' | 'value';
  /**
   * Whether this caller may be given this recording, for rights that are otherwise checked inside the handler. False
   * is answered 403; an exception of its own passes as it is.
   */
  readonly authorizeReplay?: ((context: ExecutionContext, record: ReplayedRecord) => Awaitable<boolean>) | null;
}

/** Options for handlers of messages, and for messages that are handed to `IdempotencyService.consume()`. */
export interface MessageOptions {
  /**
   * How long a message is recognised; longer than any that was put aside is delivered again. Default `7d`, whatever the
   * module's `retention` is.
   */
  readonly retention?: Duration;
  /** The same in milliseconds. */
  readonly retentionMs?: number;
  /**
   * How late a message may come again, such as by the redrive of a dead-letter queue. A warning is logged at start
   * where some endpoint's retention is shorter.
   */
  readonly redeliveryHorizon?: Duration;
  /** The same in milliseconds. */
  readonly redeliveryHorizonMs?: number;
  /**
   * How often the work of a message is begun before the message is parked; deaths of its worker count, in whichever
   * process. Default 10.
   */
  readonly maxTries?: number;
  /**
   * Takes a message that no delivery can bring to an end, where its transport has no place for such: once it resolves
   * the message is acknowledged. By default RabbitMQ dead-letters it, and elsewhere it is logged.
   */
  readonly park?: (message: ParkedMessage) => Awaitable<void>;
  /** Told of every delivery, by the name of its consumer, what is to become of it: for counting. */
  readonly onSettled?: (endpoint: string, settlement: Settlement) => void;
}

/** A message that is put aside, for somebody to look at. */
export interface ParkedMessage {
  /** The consumer that could not handle it. */
  readonly endpoint: string;
  readonly envelope: Envelope;
  readonly reason: ParkReason;
  readonly error: unknown;
}

export interface IdempotencyModuleOptions extends EndpointOptions {
  readonly messages?: MessageOptions;
  /**
   * Whose key space a request belongs to: taken from what authentication found out, never from what the caller can
   * choose. Nothing, or an error, fails closed.
   */
  readonly tenant?: (context: ExecutionContext) => Awaitable<string | null | undefined>;
  /** Says that all callers share one key space. Either this or `tenant` is required. */
  readonly singleTenant?: boolean;
  /** The name of the TypeORM data source, where it is not the default one. */
  readonly dataSource?: string;
  /** The request header that carries the key. Default `Idempotency-Key`. */
  readonly header?: string;
  /** The longest response body that is recorded, in bytes. Default 1 MiB, at least 64 KiB. */
  readonly recordingLimitBytes?: number;
  /** What the `type` of a problem begins with. Default `urn:problem-type:`. */
  readonly problemTypeBase?: string;
  /** The status of `idempotency-key-reused`, a client error. Default 422. */
  readonly mismatchStatus?: number;
  /**
   * What the keys that providers are given are derived with; required where an endpoint makes steps. At least 16
   * characters, the same in every process, and not to be changed while operations are under way.
   */
  readonly providerKeySecret?: string;
  /**
   * How long after its last outside call an operation is left to its client's retries before a `@Reconciles()` method
   * takes it up. Default `5m`.
   */
  readonly reconcileAfter?: Duration;
  readonly reconcileAfterMs?: number;
  /** How often such operations are looked for. Default `30s`. */
  readonly reconcileEvery?: Duration;
  readonly reconcileEveryMs?: number;
  /** Whether this process deletes records past their retention. Default true; any number of processes may. */
  readonly sweep?: boolean;
  /** How often records past their retention are looked for. Default `1m`. */
  readonly sweepEvery?: Duration;
  readonly sweepEveryMs?: number;
  /** Told once of every attempt, by whichever way it came, what it came to; nothing that it does changes that. */
  readonly onOutcome?: (event: OutcomeEvent) => void;
  /** The page that tells callers about keys; linked where a key is missing. */
  readonly docsUrl?: string;
  /** How long an attempt waits for a free database connection before it is answered 503. Default `10s`. */
  readonly acquireTimeout?: Duration;
  readonly acquireTimeoutMs?: number;
  /** How long one of the library's own statements may take. Default `15s`. */
  readonly statementTimeout?: Duration;
  readonly statementTimeoutMs?: number;
  /** For how long in all a lease is renewed while its work runs. Default `15m`. */
  readonly renewFor?: Duration;
  readonly renewForMs?: number;
  /** How long a shutdown waits for work under way. Default `30s`. */
  readonly shutdownTimeout?: Duration;
  readonly shutdownTimeoutMs?: number;
  /**
   * Whether the library's statements are prepared once per connection. By default the database is asked at start
   * whether a pooler stands before it, which may not carry them.
   */
  readonly preparedStatements?: boolean;
  /**
   * What to do about a write that an idempotent handler makes outside its shared transaction. Default `warn`, and
   * `ignore` where NODE_ENV is `production`.
   */
  readonly strayWrites?: 'warn' | 'ignore';
  /**
   * Has code that manages its transactions by other means join the operation's: runs its work in a new transaction of
   * the data source, such as `(work) => txHost.withTransaction(work)`, and is given the operation's for it.
   */
  readonly joinedBy?: TransactionOpener;
}

export interface IdempotencyModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** The name of the TypeORM data source, where it is not the default one; dependency injection needs it early. */
  readonly dataSource?: string;
  readonly inject?: readonly unknown[];
  // The parameters are whatever `inject` names: only the caller knows their types.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly useFactory: (...dependencies: any[]) => Awaitable<Omit<IdempotencyModuleOptions, 'dataSource'>>;
}

/** Options of one endpoint; what is not given is taken from the module. */
export interface IdempotentOptions extends EndpointOptions {
  /**
   * Whether the handler runs inside one transaction (`auto`, the default), or makes its outside calls in steps and
   * opens its transaction itself (`manual`), by `@Operation()`.
   */
  readonly transaction?: 'auto' | 'manual';
  /**
   * The operation's name in place of its method and route, or of a consumer's class and method: stays the same when
   * they change.
   */
  readonly endpoint?: string;
  /** For a handler of messages: see `messages.maxTries`. */
  readonly maxTries?: number;
  /** Where the key comes from instead of the header, or the id of a message: undefined counts as missing, empty as invalid. */
  readonly key?: (context: ExecutionContext) => Awaitable<string | null | undefined>;
}
