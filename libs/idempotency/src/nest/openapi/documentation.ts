import { type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';

import { type Endpoint, Endpoints } from '../endpoints.js';
import { idempotentMark } from '../idempotent.decorator.js';
import type { Handler } from '../route-metadata.js';
import type { ModuleSettings } from '../settings.js';
import { describeOperation } from './operation.js';
import { PROBLEM_SCHEMA, problemSchema } from './problem-schema.js';

/** An operation of a document with the symbol of the wrapper that it was made from. */
export interface MarkedOperation {
  readonly operation: OperationObject;
  readonly wrapper: symbol;
}

/** Says in the documents of one application what its idempotent endpoints mean for callers. */
export class OpenApiDocumentation {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly endpoints: Endpoints,
    private readonly settings: ModuleSettings,
  ) {}

  /** Every decorated handler of the application's controllers, with its endpoint. */
  *routes(): Generator<[handler: Handler, endpoint: Endpoint]> {
    for (const { metatype } of this.discovery.getControllers()) {
      const controller = metatype as Type;
      const prototype = controller.prototype as Record<string, Handler>;
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        const handler = prototype[name]!;
        const mark = idempotentMark(handler);
        if (mark) yield [handler, this.endpoints.of(controller, handler, mark)];
      }
    }
  }

  /** Completes a document of this application, of which these operations belong to idempotent endpoints. */
  complete(document: OpenAPIObject, operations: readonly MarkedOperation[]): void {
    if (operations.length === 0) return;
    const endpoints = new Map([...this.routes()].map(([, endpoint]) => [endpoint.wrapper, endpoint]));
    for (const { operation, wrapper } of operations) {
      describeOperation(operation, endpoints.get(wrapper)!, this.settings);
    }
    const { components } = document;
    const schemas = { ...components?.schemas, [PROBLEM_SCHEMA]: structuredClone(problemSchema) };
    document.components = { ...components, schemas };
  }
}
