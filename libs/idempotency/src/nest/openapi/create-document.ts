import { type INestApplication } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';

import type { MarkedOperation, OpenApiDocumentation } from './documentation.js';
import type { Swagger } from './swagger.js';

/** Where an application keeps its {@link OpenApiDocumentation}. */
export const OPENAPI_DOCUMENTATION = Symbol.for('nestjs-idempotency:openapi-documentation');

const IS_TAUGHT = Symbol.for('nestjs-idempotency:is-taught');

/** What names, in an operation of a document under construction, the handler that it was made from. */
const MARK = 'x-nestjs-idempotency-handler';

const SAFE_METHODS = new Set(['get', 'head', 'options']);

/**
 * Has `SwaggerModule.createDocument()` describe the idempotent endpoints of every application that has some.
 *
 * The finished document is completed, where decorating the handlers would seem simpler: any response in a handler's
 * metadata makes the package ignore the types that its compiler plugin found, and two applications in one process may
 * share a handler, but not their settings.
 */
export function teachCreateDocument({ SwaggerModule, ApiExtension }: Swagger): void {
  if (IS_TAUGHT in SwaggerModule) return;
  const createDocument = SwaggerModule.createDocument.bind(SwaggerModule);
  const createCompleted: typeof createDocument = (app, config, options) => {
    const documentation = documentationOf(app);
    for (const [handler, { wrapper }] of documentation?.routes() ?? []) {
      ApiExtension(MARK, wrapper)(handler, handler.name, { value: handler });
    }
    const document = createDocument(app, config, options);
    // Also where nothing is completed: another application may have marked a handler that they share.
    const operations = takeMarks(document);
    documentation?.complete(document, operations);
    return document;
  };
  Object.assign(SwaggerModule, { createDocument: createCompleted, [IS_TAUGHT]: true });
}

function documentationOf(app: INestApplication): OpenApiDocumentation | undefined {
  for (const { providers } of app.get(ModulesContainer).values()) {
    const provider = providers.get(OPENAPI_DOCUMENTATION);
    if (provider) return provider.instance as OpenApiDocumentation;
  }
  return undefined;
}

/** Takes every mark off the document, and returns the operations that carried one and may change something. */
function takeMarks({ paths, webhooks = {} }: OpenAPIObject): MarkedOperation[] {
  const taken: MarkedOperation[] = [];
  for (const item of [...Object.values(paths), ...Object.values(webhooks)]) {
    for (const [method, operation] of Object.entries(item) as [string, OperationObject & { [MARK]?: symbol }][]) {
      const wrapper = operation[MARK];
      if (wrapper === undefined) continue;
      delete operation[MARK];
      if (!SAFE_METHODS.has(method)) taken.push({ operation, wrapper });
    }
  }
  return taken;
}
