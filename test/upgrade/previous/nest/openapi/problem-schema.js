import { PROBLEM_CODES } from '../../http/problem.js';
export const PROBLEM_SCHEMA = 'IdempotencyProblem';
export const PROBLEM_REFERENCE = { $ref: `#/components/schemas/${PROBLEM_SCHEMA}` };
const MEMBERS = {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    instance: { type: 'string', format: 'uri-reference', description: "The request's path." },
    code: { type: 'string', enum: PROBLEM_CODES, description: 'The stable name of the problem.' },
    reason: { type: 'string', description: 'A finer, equally stable name of what is wrong, such as `too_long`.' },
    retryable: { type: 'boolean', description: 'Whether the same request, sent again later, can succeed.' },
    retryAfter: { type: 'integer', description: 'In seconds; the same as the `Retry-After` header.' },
    resource: { type: 'string', format: 'uri-reference', description: "Where the operation's result lives." },
};
export const problemSchema = {
    type: 'object',
    description: 'An error answer (RFC 9457).',
    properties: MEMBERS,
    required: ['type', 'title', 'status', 'detail', 'code', 'retryable'],
};
