import { idempotentMark } from '../idempotent.decorator.js';
import { describeOperation } from './operation.js';
import { PROBLEM_SCHEMA, problemSchema } from './problem-schema.js';
export class OpenApiDocumentation {
    constructor(discovery, scanner, endpoints, settings) {
        this.discovery = discovery;
        this.scanner = scanner;
        this.endpoints = endpoints;
        this.settings = settings;
    }
    *routes() {
        for (const { metatype } of this.discovery.getControllers()) {
            const controller = metatype;
            const prototype = controller.prototype;
            for (const name of this.scanner.getAllMethodNames(prototype)) {
                const handler = prototype[name];
                const mark = idempotentMark(handler);
                if (mark)
                    yield [handler, this.endpoints.of(controller, handler, mark)];
            }
        }
    }
    complete(document, operations) {
        if (operations.length === 0)
            return;
        const endpoints = new Map([...this.routes()].map(([, endpoint]) => [endpoint.wrapper, endpoint]));
        for (const { operation, wrapper } of operations) {
            describeOperation(operation, endpoints.get(wrapper), this.settings);
        }
        const { components } = document;
        const schemas = { ...components?.schemas, [PROBLEM_SCHEMA]: structuredClone(problemSchema) };
        document.components = { ...components, schemas };
    }
}
