import ms from 'ms';
const LONGEST_TIMER_MS = 2 ** 31 - 1;
export const LONGEST_RETENTION_MS = 100 * 365 * 24 * 60 * 60 * 1000;
export function milliseconds(option, given, longestMs = LONGEST_TIMER_MS) {
    const parsed = typeof given === 'number' ? given : parse(given);
    if (!Number.isFinite(parsed) || parsed <= 0) {
        throw new Error(`IdempotencyModule: \`${option}\` must be a positive duration, like '60s', or a number of milliseconds ` +
            `under \`${option}Ms\`; it is ${JSON.stringify(given)}.`);
    }
    if (parsed > longestMs) {
        throw new Error(`IdempotencyModule: \`${option}\` must not be longer than ${ms(longestMs)}.`);
    }
    return Math.ceil(parsed);
}
function parse(text) {
    try {
        return ms(text);
    }
    catch {
        return NaN;
    }
}
