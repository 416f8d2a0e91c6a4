import { PROBLEM_TYPE, problemHeaders, problemOf } from '../http/problem.js';
import { IdempotencyException } from './idempotency.exception.js';
export class Problems {
    constructor(options) {
        this.options = options;
    }
    exception(error, exchange) {
        const problem = this.problem(error, exchange);
        if (!exchange.response.headersSent)
            exchange.announce(problem, problemHeaders(problem, this.options));
        return new IdempotencyException(error, problem);
    }
    answer(error, exchange) {
        const problem = this.problem(error, exchange);
        const headers = [['Content-Type', PROBLEM_TYPE], ...problemHeaders(problem, this.options)];
        return { status: problem.status, headers, body: JSON.stringify(problem) };
    }
    problem(error, { request }) {
        return problemOf(error, this.options, request.url?.split('?', 1)[0]);
    }
}
