const OPTION_NAMES = {
    lease: true,
    leaseMs: true,
    retention: true,
    retentionMs: true,
    patience: true,
    patienceMs: true,
    claim: true,
    isolation: true,
    conflictRetries: true,
    recording: true,
    protect: true,
    transaction: true,
};
const FOR_OPERATIONS = {
    ...OPTION_NAMES,
    endpoint: true,
    tenant: false,
    key: false,
    payload: false,
    join: false,
    signal: false,
};
const FOR_MESSAGES = {
    ...OPTION_NAMES,
    maxTries: true,
    endpoint: true,
    tenant: false,
    key: false,
    payload: false,
    headers: false,
    messageId: false,
};
export function operationOptions(request) {
    return optionsOf(request, FOR_OPERATIONS);
}
export function messageOptions(message) {
    return optionsOf(message, FOR_MESSAGES);
}
function optionsOf(request, names) {
    const given = Object.entries(request).filter(([, value]) => value !== undefined);
    for (const [name] of given) {
        if (Object.hasOwn(names, name))
            continue;
        throw new Error(`IdempotencyService: there is no option \`${name}\`. There are: ${Object.keys(names).join(', ')}.`);
    }
    return { endpoint: '', ...Object.fromEntries(given.filter(([name]) => names[name])) };
}
