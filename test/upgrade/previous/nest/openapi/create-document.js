import { ModulesContainer } from '@nestjs/core';
export const OPENAPI_DOCUMENTATION = Symbol.for('nestjs-idempotency:openapi-documentation');
const IS_TAUGHT = Symbol.for('nestjs-idempotency:is-taught');
const MARK = 'x-nestjs-idempotency-handler';
const SAFE_METHODS = new Set(['get', 'head', 'options']);
export function teachCreateDocument({ SwaggerModule, ApiExtension }) {
    if (IS_TAUGHT in SwaggerModule)
        return;
    const createDocument = SwaggerModule.createDocument.bind(SwaggerModule);
    const createCompleted = (app, config, options) => {
        const documentation = documentationOf(app);
        for (const [handler, { wrapper }] of documentation?.routes() ?? []) {
            ApiExtension(MARK, wrapper)(handler, handler.name, { value: handler });
        }
        const document = createDocument(app, config, options);
        const operations = takeMarks(document);
        documentation?.complete(document, operations);
        return document;
    };
    Object.assign(SwaggerModule, { createDocument: createCompleted, [IS_TAUGHT]: true });
}
function documentationOf(app) {
    for (const { providers } of app.get(ModulesContainer).values()) {
        const provider = providers.get(OPENAPI_DOCUMENTATION);
        if (provider)
            return provider.instance;
    }
    return undefined;
}
function takeMarks({ paths, webhooks = {} }) {
    const taken = [];
    for (const item of [...Object.values(paths), ...Object.values(webhooks)]) {
        for (const [method, operation] of Object.entries(item)) {
            const wrapper = operation[MARK];
            if (wrapper === undefined)
                continue;
            delete operation[MARK];
            if (!SAFE_METHODS.has(method))
                taken.push({ operation, wrapper });
        }
    }
    return taken;
}
