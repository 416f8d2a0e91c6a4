const anything = () => undefined;
const unless = (isRight, expected) => (value) => isRight(value) ? undefined : expected;
const oneOf = (...allowed) => unless((value) => allowed.includes(value), `one of ${allowed.map((name) => `'${name}'`).join(', ')}`);
const orNull = (rule) => (value) => value === null ? undefined : rule(value);
const yesOrNo = unless((value) => typeof value === 'boolean', 'true or false');
const aFunction = unless((value) => typeof value === 'function', 'a function');
const plainText = unless((value) => typeof value === 'string' && !/[\0-\x1f\x7f]/.test(value), 'text without control characters');
const aName = unless((value) => plainText(value) === undefined && value !== '', 'text that is not empty');
const headerName = unless((value) => typeof value === 'string' && /^[!#$%&'*+.^_`|~\w-]+$/.test(value), 'the name of a header');
const names = unless((value) => Array.isArray(value) && value.every((name) => typeof name === 'string'), 'a list of names');
const protection = unless((value) => {
    const { seal, open } = (value ?? {});
    return typeof seal === 'function' && typeof open === 'function';
}, 'a pair of functions, `seal` and `open`');
const ENDPOINT = {
    lease: anything,
    leaseMs: anything,
    retention: anything,
    retentionMs: anything,
    patience: anything,
    patienceMs: anything,
    required: yesOrNo,
    replayHeaders: names,
    claim: oneOf('lease', 'transaction'),
    isolation: oneOf('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'),
    conflictRetries: anything,
    errors: orNull(aFunction),
    recording: oneOf('full', 'status-only'),
    protect: orNull(protection),
    lateAnswer: oneOf('omit', 'value'),
    fingerprint: anything,
    authorizeReplay: orNull(aFunction),
};
const IDEMPOTENT = {
    ...ENDPOINT,
    maxTries: anything,
    transaction: oneOf('auto', 'manual'),
    endpoint: aName,
    key: aFunction,
};
const MESSAGES = {
    retention: anything,
    retentionMs: anything,
    redeliveryHorizon: anything,
    redeliveryHorizonMs: anything,
    maxTries: anything,
    park: aFunction,
    onSettled: aFunction,
};
const MODULE = {
    ...ENDPOINT,
    messages: unless((value) => typeof value === 'object' && value !== null, 'an object of options'),
    tenant: aFunction,
    singleTenant: yesOrNo,
    dataSource: aName,
    header: headerName,
    recordingLimitBytes: anything,
    problemTypeBase: plainText,
    mismatchStatus: anything,
    docsUrl: plainText,
    acquireTimeout: anything,
    acquireTimeoutMs: anything,
    statementTimeout: anything,
    statementTimeoutMs: anything,
    renewFor: anything,
    renewForMs: anything,
    shutdownTimeout: anything,
    shutdownTimeoutMs: anything,
    preparedStatements: yesOrNo,
    strayWrites: oneOf('warn', 'ignore'),
    providerKeySecret: anything,
    reconcileAfter: anything,
    reconcileAfterMs: anything,
    reconcileEvery: anything,
    reconcileEveryMs: anything,
    sweep: yesOrNo,
    sweepEvery: anything,
    sweepEveryMs: anything,
};
export function assertIdempotentOptions(options) {
    assertOptions(options, IDEMPOTENT);
}
export function assertModuleOptions(options) {
    assertOptions(options, MODULE);
    assertOptions(options.messages ?? {}, MESSAGES);
}
function assertOptions(options, rules) {
    for (const [name, value] of Object.entries(options)) {
        if (value === undefined)
            continue;
        const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
        if (!rule)
            throw new Error(`IdempotencyModule: there is no option \`${name}\`. There are: ${Object.keys(rules).join(', ')}.`);
        const expected = rule(value);
        if (expected)
            throw new Error(`IdempotencyModule: \`${name}\` must be ${expected}.`);
        if (`${name}Ms` in options && options[`${name}Ms`] !== undefined) {
            throw new Error(`IdempotencyModule: both \`${name}\` and \`${name}Ms\` are given. Leave one out.`);
        }
    }
}
