import { HttpException } from '@nestjs/common';
export class IdempotencyException extends HttpException {
    constructor(error, problem) {
        super(problem, problem.status, { cause: error.cause ?? error, description: problem.title });
        this.problem = problem;
        this.code = error.code;
        this.message = error.message;
    }
}
