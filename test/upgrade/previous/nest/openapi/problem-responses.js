import { DEFAULT_RETRY_AFTER_MS, IdempotencyError } from '../../core/errors.js';
import { PROBLEM_CODES, PROBLEM_TYPE, problemHeaders, problemOf, } from '../../http/problem.js';
import { PROBLEM_REFERENCE } from './problem-schema.js';
export const PROBLEM_MEDIA_TYPE = PROBLEM_TYPE.split(';', 1)[0];
const HEADERS = {
    'Retry-After': {
        description: 'After how many seconds to try again, with the same key.',
        schema: { type: 'integer', minimum: 1 },
    },
    Link: {
        description: '`rel="related"` leads to the result of the operation, `rel="help"` to what there is to read about keys.',
        schema: { type: 'string' },
    },
};
export function problemResponses(endpoint, options) {
    const byStatus = new Map();
    for (const code of PROBLEM_CODES) {
        const problem = exampleOf(code, options);
        if (problem.status === 500 || !canOccur(code, endpoint))
            continue;
        byStatus.set(problem.status, [...(byStatus.get(problem.status) ?? []), problem]);
    }
    return new Map([...byStatus].map(([status, problems]) => [status, responseOf(problems, options)]));
}
const OF_STEPS = new Set(['idempotency-outcome-unknown', 'idempotency-step-refused']);
function canOccur(code, { isRequired, isManual, authorizeReplay }) {
    if (OF_STEPS.has(code))
        return isManual;
    if (code === 'idempotency-key-missing')
        return isRequired;
    if (code === 'idempotency-replay-forbidden')
        return authorizeReplay !== undefined;
    return true;
}
function responseOf(problems, options) {
    const sent = problems.flatMap((problem) => problemHeaders(problem, options));
    const headers = Object.fromEntries(sent.flatMap(([name]) => (HEADERS[name] ? [[name, structuredClone(HEADERS[name])]] : [])));
    return {
        description: problems.map(({ title, code }) => `${title} (\`${code}\`)`).join('; '),
        ...(Object.keys(headers).length > 0 && { headers }),
        content: {
            [PROBLEM_MEDIA_TYPE]: {
                schema: { ...PROBLEM_REFERENCE },
                examples: Object.fromEntries(problems.map((value) => [value.code, { value }])),
            },
        },
    };
}
function exampleOf(code, options) {
    const { title, retryable } = problemOf(new IdempotencyError(code, ''), options);
    const details = {
        ...(retryable && { retryAfterMs: DEFAULT_RETRY_AFTER_MS }),
        ...(code === 'idempotency-response-unavailable' && { resource: '/payments/8231' }),
    };
    return problemOf(new IdempotencyError(code, `${title}.`, details), options);
}
