import { createParamDecorator } from '@nestjs/common';
import { currentAttempt } from './attempt-context.js';
import { asPlainParameter } from './plain-parameter.js';
const operationParameter = createParamDecorator((_, context) => {
    const handle = currentAttempt()?.handle;
    if (!handle) {
        throw new Error(`@Operation() in ${context.getClass().name}.${context.getHandler().name} found no operation. ` +
            'Add @Idempotent() to the handler, and require a key.');
    }
    return handle;
});
export function Operation() {
    return asPlainParameter(operationParameter());
}
