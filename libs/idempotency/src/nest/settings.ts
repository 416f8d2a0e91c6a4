import type { ClaimStrategy, ClaimTerms } from '../core/attempt.js';
import { type ContentSelection, contentSelection } from '../http/fingerprint-options.js';
import type { ErrorRule } from '../http/judge.js';
import { DEFAULT_KEY_HEADER } from '../http/key-header.js';
import { DEFAULT_MISMATCH_STATUS, DEFAULT_PROBLEM_TYPE_BASE, type ProblemOptions } from '../http/problem.js';
import type { Keeping } from '../http/recording-of.js';
import { refusedHeaders } from '../http/replayable-headers.js';
import { DEFAULT_LIMIT_BYTES, LEAST_LIMIT_BYTES } from '../http/wire/held-response.js';
import { type Duration, LONGEST_RETENTION_MS, milliseconds } from './duration.js';
import { assertIdempotentOptions, assertModuleOptions } from './option-names.js';
import type { EndpointOptions, Fingerprinter, IdempotencyModuleOptions, IdempotentOptions } from './options.js';

const LEAST_SECRET_LENGTH = 16;

const DEFAULT_MAX_TRIES = 10;

/** Brokers remember ids for minutes; those who put messages aside bring them back days later. */
const DEFAULT_MESSAGE_RETENTION = '7d';

/** Durations that no timer waits for. */
const KEPT_IN_ROWS = new Set(['retention', 'tombstones', 'redeliveryHorizon']);

/** One endpoint's settings, every value decided; durations in milliseconds. */
export interface EndpointSettings extends Required<ClaimTerms> {
  readonly endpoint: string | undefined;
  readonly key: IdempotentOptions['key'];
  /** The handler opens its transaction itself, and makes outside calls in steps. */
  readonly isManual: boolean;
  readonly patienceMs: number;
  readonly isRequired: boolean;
  readonly conflictRetries: number;
  readonly authorizeReplay: NonNullable<EndpointOptions['authorizeReplay']> | undefined;
  readonly errors: ErrorRule | undefined;
  readonly fingerprint: ContentSelection | Fingerprinter;
  readonly lateAnswer: 'omit' | 'value';
  readonly keeping: Keeping;
  /** How often the work of a message is begun before the message is parked. */
  readonly maxTries: number;
}

/** @throws {Error} naming the option, where one cannot be right. */
export function endpointSettings(module: IdempotencyModuleOptions, own: IdempotentOptions = {}): EndpointSettings {
  assertIdempotentOptions(own);
  const leaseMs = ownOrModule('lease', own, module) ?? milliseconds('lease', '60s');
  const retentionMs = ownOrModule('retention', own, module) ?? milliseconds('retention', '24h');
  const strategy = strategyOf(own, module);
  assertRetention(retentionMs, leaseMs, strategy.kind === 'lease' ? renewForOf(module) : 0);
  return {
    endpoint: own.endpoint,
    key: own.key,
    strategy,
    isManual: own.transaction === 'manual',
    leaseMs,
    retentionMs,
    tombstoneMs: tombstonesOf(own) ?? tombstonesOf(module) ?? 0,
    patienceMs: patienceOf(own) ?? patienceOf(module) ?? 0,
    isRequired: own.required ?? module.required ?? true,
    conflictRetries: count('conflictRetries', own.conflictRetries ?? module.conflictRetries ?? 0),
    authorizeReplay: ownUnlessNull(own.authorizeReplay, module.authorizeReplay),
    errors: ownUnlessNull(own.errors, module.errors),
    fingerprint: fingerprintOf(own.fingerprint ?? module.fingerprint),
    lateAnswer: own.lateAnswer ?? module.lateAnswer ?? 'omit',
    keeping: keepingOf(own, module),
    maxTries: triesOf(own.maxTries ?? module.messages?.maxTries ?? DEFAULT_MAX_TRIES),
  };
}

/**
 * The same for a consumer of messages, which are recognised for longer than requests.
 *
 * @throws {Error} naming the option, where one cannot be right.
 */
export function consumerSettings(module: IdempotencyModuleOptions, own: IdempotentOptions = {}): EndpointSettings {
  const retentionMs = given('retention', module.messages ?? {}) ?? milliseconds('retention', DEFAULT_MESSAGE_RETENTION);
  const { retention: _, ...forAll } = module;
  return endpointSettings({ ...forAll, retentionMs, required: true }, own);
}

/** Retention counts from the claim: what is recorded after it would be forgotten at once, and done again. */
function assertRetention(retentionMs: number, leaseMs: number, renewForMs: number): void {
  const remedy = 'It must exceed the longest time over which callers retry.';
  if (retentionMs < leaseMs) {
    throw new Error(
      `IdempotencyModule: the retention (${retentionMs} ms) is shorter than the lease (${leaseMs} ms). ${remedy}`,
    );
  }
  const longestMs = renewForMs + leaseMs;
  if (retentionMs < longestMs) {
    throw new Error(
      `IdempotencyModule: the retention (${retentionMs} ms) is shorter than work may take, which is \`renewFor\` and ` +
        `one lease (${longestMs} ms). ${remedy} Make it longer, or \`renewFor\` shorter.`,
    );
  }
}

function renewForOf(options: IdempotencyModuleOptions): number {
  return given('renewFor', options) ?? milliseconds('renewFor', '15m');
}

function triesOf(maxTries: number): number {
  if (Number.isInteger(maxTries) && maxTries >= 1) return maxTries;
  throw new Error(`IdempotencyModule: \`maxTries\` must be a whole number, 1 or more; it is ${maxTries}.`);
}

function strategyOf(own: IdempotentOptions, module: IdempotencyModuleOptions): ClaimStrategy {
  const kind = own.claim ?? module.claim ?? 'lease';
  const isolation = own.isolation ?? (own.claim === 'lease' ? undefined : module.isolation);
  if (kind === 'transaction') return { kind, isolation: isolation ?? 'READ COMMITTED' };
  if (isolation !== undefined) {
    throw new Error(
      "IdempotencyModule: `isolation` goes with `claim: 'transaction'` only. Under a lease the work runs at " +
        'READ COMMITTED: a renewal after its snapshot would make any stricter transaction fail at its recording.',
    );
  }
  return { kind };
}

function fingerprintOf(given: EndpointOptions['fingerprint'] = {}): ContentSelection | Fingerprinter {
  return typeof given === 'function' ? given : contentSelection(given);
}

function keepingOf(own: IdempotentOptions, module: IdempotencyModuleOptions): Keeping {
  const replayHeaders = [...(module.replayHeaders ?? []), ...(own.replayHeaders ?? [])];
  const refused = refusedHeaders(replayHeaders);
  if (refused.length > 0) {
    throw new Error(`IdempotencyModule: these headers are never replayed: ${refused.join(', ')}.`);
  }
  return {
    replayHeaders,
    limitBytes: module.recordingLimitBytes ?? DEFAULT_LIMIT_BYTES,
    isStatusOnly: (own.recording ?? module.recording) === 'status-only',
    protection: ownUnlessNull(own.protect, module.protect),
  };
}

/** The module's settings that hold for every endpoint alike. */
export interface ModuleSettings {
  readonly header: string;
  readonly problems: ProblemOptions;
  readonly acquireTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly renewForMs: number;
  readonly shutdownTimeoutMs: number;
  readonly noticesStrayWrites: boolean;
  readonly providerKeySecret: string | undefined;
  readonly reconcileAfterMs: number;
  readonly reconcileEveryMs: number;
  /** Null where this process does not sweep by itself. */
  readonly sweepEveryMs: number | null;
  /** How late a message may come again; undefined where nobody has said. */
  readonly redeliveryHorizonMs: number | undefined;
}

/** @throws {Error} naming the option, where one cannot be right. */
export function moduleSettings(options: IdempotencyModuleOptions): ModuleSettings {
  assertModuleOptions(options);
  if (Boolean(options.tenant) === Boolean(options.singleTenant)) {
    throw new Error(
      'IdempotencyModule: say whose keys are whose. Either give `tenant: (context) => …`, which returns the ' +
        'authenticated account, or `singleTenant: true` if all callers may share one key space.',
    );
  }
  const { recordingLimitBytes = DEFAULT_LIMIT_BYTES } = options;
  if (!(recordingLimitBytes >= LEAST_LIMIT_BYTES)) {
    throw new Error(`IdempotencyModule: \`recordingLimitBytes\` must be at least ${LEAST_LIMIT_BYTES}.`);
  }
  // What is wrong for every endpoint is said once.
  endpointSettings(options);
  consumerSettings(options);
  const strayWrites = options.strayWrites ?? (process.env.NODE_ENV === 'production' ? 'ignore' : 'warn');
  return {
    header: options.header ?? DEFAULT_KEY_HEADER,
    problems: {
      typeBase: options.problemTypeBase ?? DEFAULT_PROBLEM_TYPE_BASE,
      docsUrl: options.docsUrl,
      mismatchStatus: mismatchStatusOf(options),
    },
    acquireTimeoutMs: given('acquireTimeout', options) ?? milliseconds('acquireTimeout', '10s'),
    statementTimeoutMs: given('statementTimeout', options) ?? milliseconds('statementTimeout', '15s'),
    renewForMs: renewForOf(options),
    shutdownTimeoutMs: given('shutdownTimeout', options) ?? milliseconds('shutdownTimeout', '30s'),
    noticesStrayWrites: strayWrites === 'warn',
    providerKeySecret: providerKeySecretOf(options),
    reconcileAfterMs: given('reconcileAfter', options) ?? milliseconds('reconcileAfter', '5m'),
    reconcileEveryMs: given('reconcileEvery', options) ?? milliseconds('reconcileEvery', '30s'),
    sweepEveryMs: options.sweep === false ? null : (given('sweepEvery', options) ?? milliseconds('sweepEvery', '1m')),
    redeliveryHorizonMs: given('redeliveryHorizon', options.messages ?? {}),
  };
}

function mismatchStatusOf({ mismatchStatus = DEFAULT_MISMATCH_STATUS }: IdempotencyModuleOptions): number {
  if (Number.isInteger(mismatchStatus) && mismatchStatus >= 400 && mismatchStatus < 500) return mismatchStatus;
  throw new Error(`IdempotencyModule: \`mismatchStatus\` must be a client error (4xx); it is ${mismatchStatus}.`);
}

function providerKeySecretOf({ providerKeySecret }: IdempotencyModuleOptions): string | undefined {
  if (providerKeySecret === undefined || providerKeySecret.length >= LEAST_SECRET_LENGTH) return providerKeySecret;
  throw new Error(
    `IdempotencyModule: \`providerKeySecret\` must have at least ${LEAST_SECRET_LENGTH} characters, such as ` +
      "`randomBytes(32).toString('hex')`.",
  );
}

/** Null switches off for one endpoint what the module has for all. */
function ownUnlessNull<Value>(own: Value | null | undefined, module: Value | null | undefined): Value | undefined {
  return (own === undefined ? module : own) ?? undefined;
}

/** None at all is 0, for an endpoint that does not wait where the others do. */
function patienceOf(options: EndpointOptions): number | undefined {
  return options.patienceMs === 0 ? 0 : given('patience', options);
}

/** None at all is 0, for an endpoint whose keys are forgotten where those of the others are not. */
function tombstonesOf(options: EndpointOptions): number | undefined {
  return options.tombstonesMs === 0 ? 0 : given('tombstones', options);
}

function ownOrModule(option: 'lease' | 'retention', own: EndpointOptions, module: EndpointOptions): number | undefined {
  return given(option, own) ?? given(option, module);
}

function count(option: string, given: number): number {
  if (Number.isInteger(given) && given >= 0) return given;
  throw new Error(`IdempotencyModule: \`${option}\` must be a whole number, 0 or more; it is ${given}.`);
}

/** The option under either of its names, if it is given at all. */
function given<Option extends string>(
  option: Option,
  options: { readonly [Name in Option]?: Duration } & { readonly [Name in `${Option}Ms`]?: number },
): number | undefined {
  const value = options[`${option}Ms` as const] ?? options[option];
  const longestMs = KEPT_IN_ROWS.has(option) ? LONGEST_RETENTION_MS : undefined;
  return value === undefined ? undefined : milliseconds(option, value as Duration | number, longestMs);
}
