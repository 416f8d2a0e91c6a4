import { contentSelection } from '../http/fingerprint-options.js';
import { DEFAULT_KEY_HEADER } from '../http/key-header.js';
import { DEFAULT_MISMATCH_STATUS, DEFAULT_PROBLEM_TYPE_BASE } from '../http/problem.js';
import { refusedHeaders } from '../http/replayable-headers.js';
import { DEFAULT_LIMIT_BYTES, LEAST_LIMIT_BYTES } from '../http/wire/held-response.js';
import { LONGEST_RETENTION_MS, milliseconds } from './duration.js';
import { assertIdempotentOptions, assertModuleOptions } from './option-names.js';
const LEAST_SECRET_LENGTH = 16;
const DEFAULT_MAX_TRIES = 10;
const DEFAULT_MESSAGE_RETENTION = '7d';
export function endpointSettings(module, own = {}) {
    assertIdempotentOptions(own);
    const leaseMs = ownOrModule('lease', own, module) ?? milliseconds('lease', '60s');
    const retentionMs = ownOrModule('retention', own, module) ?? milliseconds('retention', '24h');
    if (retentionMs < leaseMs) {
        throw new Error(`IdempotencyModule: the retention (${retentionMs} ms) is shorter than the lease (${leaseMs} ms). ` +
            'It must exceed the longest time over which callers retry.');
    }
    return {
        endpoint: own.endpoint,
        key: own.key,
        strategy: strategyOf(own, module),
        isManual: own.transaction === 'manual',
        leaseMs,
        retentionMs,
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
export function consumerSettings(module, own = {}) {
    const retentionMs = given('retention', module.messages ?? {}) ?? milliseconds('retention', DEFAULT_MESSAGE_RETENTION);
    const { retention: _, ...forAll } = module;
    return endpointSettings({ ...forAll, retentionMs, required: true }, own);
}
function triesOf(maxTries) {
    if (Number.isInteger(maxTries) && maxTries >= 1)
        return maxTries;
    throw new Error(`IdempotencyModule: \`maxTries\` must be a whole number, 1 or more; it is ${maxTries}.`);
}
function strategyOf(own, module) {
    const kind = own.claim ?? module.claim ?? 'lease';
    const isolation = own.isolation ?? (own.claim === 'lease' ? undefined : module.isolation);
    if (kind === 'transaction')
        return { kind, isolation: isolation ?? 'READ COMMITTED' };
    if (isolation !== undefined) {
        throw new Error("IdempotencyModule: `isolation` goes with `claim: 'transaction'` only. Under a lease the work runs at " +
            'READ COMMITTED: a renewal after its snapshot would make any stricter transaction fail at its recording.');
    }
    return { kind };
}
function fingerprintOf(given = {}) {
    return typeof given === 'function' ? given : contentSelection(given);
}
function keepingOf(own, module) {
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
export function moduleSettings(options) {
    assertModuleOptions(options);
    if (Boolean(options.tenant) === Boolean(options.singleTenant)) {
        throw new Error('IdempotencyModule: say whose keys are whose. Either give `tenant: (context) => …`, which returns the ' +
            'authenticated account, or `singleTenant: true` if all callers may share one key space.');
    }
    const { recordingLimitBytes = DEFAULT_LIMIT_BYTES } = options;
    if (!(recordingLimitBytes >= LEAST_LIMIT_BYTES)) {
        throw new Error(`IdempotencyModule: \`recordingLimitBytes\` must be at least ${LEAST_LIMIT_BYTES}.`);
    }
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
        renewForMs: given('renewFor', options) ?? milliseconds('renewFor', '15m'),
        shutdownTimeoutMs: given('shutdownTimeout', options) ?? milliseconds('shutdownTimeout', '30s'),
        noticesStrayWrites: strayWrites === 'warn',
        providerKeySecret: providerKeySecretOf(options),
        reconcileAfterMs: given('reconcileAfter', options) ?? milliseconds('reconcileAfter', '5m'),
        reconcileEveryMs: given('reconcileEvery', options) ?? milliseconds('reconcileEvery', '30s'),
        sweepEveryMs: options.sweep === false ? null : (given('sweepEvery', options) ?? milliseconds('sweepEvery', '1m')),
        redeliveryHorizonMs: given('redeliveryHorizon', options.messages ?? {}),
    };
}
function mismatchStatusOf({ mismatchStatus = DEFAULT_MISMATCH_STATUS }) {
    if (Number.isInteger(mismatchStatus) && mismatchStatus >= 400 && mismatchStatus < 500)
        return mismatchStatus;
    throw new Error(`IdempotencyModule: \`mismatchStatus\` must be a client error (4xx); it is ${mismatchStatus}.`);
}
function providerKeySecretOf({ providerKeySecret }) {
    if (providerKeySecret === undefined || providerKeySecret.length >= LEAST_SECRET_LENGTH)
        return providerKeySecret;
    throw new Error(`IdempotencyModule: \`providerKeySecret\` must have at least ${LEAST_SECRET_LENGTH} characters, such as ` +
        "`randomBytes(32).toString('hex')`.");
}
function ownUnlessNull(own, module) {
    return (own === undefined ? module : own) ?? undefined;
}
function patienceOf(options) {
    return options.patienceMs === 0 ? 0 : given('patience', options);
}
function ownOrModule(option, own, module) {
    return given(option, own) ?? given(option, module);
}
function count(option, given) {
    if (Number.isInteger(given) && given >= 0)
        return given;
    throw new Error(`IdempotencyModule: \`${option}\` must be a whole number, 0 or more; it is ${given}.`);
}
function given(option, options) {
    const value = options[`${option}Ms`] ?? options[option];
    const longestMs = option === 'retention' || option === 'redeliveryHorizon' ? LONGEST_RETENTION_MS : undefined;
    return value === undefined ? undefined : milliseconds(option, value, longestMs);
}
