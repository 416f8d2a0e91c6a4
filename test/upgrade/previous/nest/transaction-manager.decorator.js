import { createParamDecorator } from '@nestjs/common';
import { currentAttempt, openManager } from './attempt-context.js';
import { asPlainParameter } from './plain-parameter.js';
const managerParameter = createParamDecorator((_, context) => {
    const attempt = currentAttempt();
    if (!attempt) {
        throw new Error(`@TransactionManager() in ${context.getClass().name}.${context.getHandler().name} found no transaction. ` +
            'Add @Idempotent() to the handler, and IdempotencyModule.forRoot() to the application.');
    }
    return openManager(attempt);
});
export function TransactionManager() {
    return asPlainParameter(managerParameter());
}
