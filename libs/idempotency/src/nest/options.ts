import type { ExecutionContext, ModuleMetadata } from '@nestjs/common';

import { DEFAULT_LIMIT_BYTES, LEAST_LIMIT_BYTES } from '../http/wire/held-response.js';
import { DEFAULT_KEY_HEADER } from '../http/key-header.js';
import { DEFAULT_PROBLEM_TYPE_BASE } from '../http/problem.js';
import { refusedHeaders } from '../http/replayable-headers.js';
import { type Duration, LONGEST_RETENTION_MS, milliseconds } from './duration.js';

type Awaitable<T> = T | Promise<T>;

/** Options that the module sets for all endpoints and `@Idempotent()` for one. */
export interface EndpointOptions {
  /** How long a claim is honoured while its worker gives no sign of life. Default `60s`. */
  readonly lease?: Duration;
  /** The same in milliseconds. */
  readonly leaseMs?: number;
  /** How long a recording can be replayed; longer than any caller goes on retrying. Default `24h`. */
  readonly retention?: Duration;
  /** The same in milliseconds. */
  readonly retentionMs?: number;
  /** Whether a request without a key is refused. Default true; if false, it runs without any protection. */
  readonly required?: boolean;
  /** Names of response headers to replay besides the usual ones. */
  readonly replayHeaders?: readonly string[];
}

export interface IdempotencyModuleOptions extends EndpointOptions {
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
  /** The operation's name in place of its method and route: stays the same when the route moves. */
  readonly endpoint?: string;
  /** Where the key comes from instead of the header: undefined counts as missing, empty as invalid. */
  readonly key?: (context: ExecutionContext) => string | null | undefined;
}

/** One endpoint's settings, every value decided; durations in milliseconds. */
export interface EndpointSettings {
  readonly endpoint: string | undefined;
  readonly key: IdempotentOptions['key'];
  readonly leaseMs: number;
  readonly retentionMs: number;
  readonly isRequired: boolean;
  readonly replayHeaders: readonly string[];
}

/** @throws {Error} naming the option, where one cannot be right. */
export function endpointSettings(module: IdempotencyModuleOptions, own: IdempotentOptions = {}): EndpointSettings {
  const leaseMs = ownOrModule('lease', own, module, '60s');
  const retentionMs = ownOrModule('retention', own, module, '24h');
  if (retentionMs < leaseMs) {
    throw new Error(
      `IdempotencyModule: the retention (${retentionMs} ms) is shorter than the lease (${leaseMs} ms). ` +
        'It must exceed the longest time over which callers retry.',
    );
  }
  const replayHeaders = [...(module.replayHeaders ?? []), ...(own.replayHeaders ?? [])];
  const refused = refusedHeaders(replayHeaders);
  if (refused.length > 0) {
    throw new Error(`IdempotencyModule: these headers are never replayed: ${refused.join(', ')}.`);
  }
  return {
    endpoint: own.endpoint,
    key: own.key,
    leaseMs,
    retentionMs,
    isRequired: own.required ?? module.required ?? true,
    replayHeaders,
  };
}

/** The module's settings that hold for every endpoint alike. */
export interface ModuleSettings {
  readonly header: string;
  readonly recordingLimitBytes: number;
  readonly problems: { readonly typeBase: string; readonly docsUrl: string | undefined };
  readonly acquireTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly renewForMs: number;
  readonly shutdownTimeoutMs: number;
  readonly noticesStrayWrites: boolean;
}

/** @throws {Error} naming the option, where one cannot be right. */
export function moduleSettings(options: IdempotencyModuleOptions): ModuleSettings {
  if (Boolean(options.tenant) === Boolean(options.singleTenant)) {
    throw new Error(
      'IdempotencyModule: say whose keys are whose. Either give `tenant: (context) => …`, which returns the ' +
        'authenticated account, or `singleTenant: true` if all callers may share one key space.',
    );
  }
  const recordingLimitBytes = options.recordingLimitBytes ?? DEFAULT_LIMIT_BYTES;
  if (!(recordingLimitBytes >= LEAST_LIMIT_BYTES)) {
    throw new Error(`IdempotencyModule: \`recordingLimitBytes\` must be at least ${LEAST_LIMIT_BYTES}.`);
  }
  const strayWrites = options.strayWrites ?? (process.env.NODE_ENV === 'production' ? 'ignore' : 'warn');
  return {
    header: options.header ?? DEFAULT_KEY_HEADER,
    recordingLimitBytes,
    problems: { typeBase: options.problemTypeBase ?? DEFAULT_PROBLEM_TYPE_BASE, docsUrl: options.docsUrl },
    acquireTimeoutMs: given('acquireTimeout', options) ?? milliseconds('acquireTimeout', '10s'),
    statementTimeoutMs: given('statementTimeout', options) ?? milliseconds('statementTimeout', '15s'),
    renewForMs: given('renewFor', options) ?? milliseconds('renewFor', '15m'),
    shutdownTimeoutMs: given('shutdownTimeout', options) ?? milliseconds('shutdownTimeout', '30s'),
    noticesStrayWrites: strayWrites === 'warn',
  };
}

function ownOrModule(
  option: 'lease' | 'retention',
  own: EndpointOptions,
  module: EndpointOptions,
  byDefault: Duration,
): number {
  return given(option, own) ?? given(option, module) ?? milliseconds(option, byDefault);
}

/** The option under either of its names, if it is given at all. */
function given<Option extends string>(
  option: Option,
  options: { readonly [Name in Option]?: Duration } & { readonly [Name in `${Option}Ms`]?: number },
): number | undefined {
  const value = options[`${option}Ms` as const] ?? options[option];
  const longestMs = option === 'retention' ? LONGEST_RETENTION_MS : undefined;
  return value === undefined ? undefined : milliseconds(option, value as Duration | number, longestMs);
}
