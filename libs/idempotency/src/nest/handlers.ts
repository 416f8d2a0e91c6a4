import { Injectable, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

import type { Handler } from './route-metadata.js';

/** One method of a controller or a provider. */
export interface FoundHandler {
  readonly owner: Type;
  readonly name: string;
  readonly handler: Handler;
  readonly isController: boolean;
  /** Its owner is made once, and not for each request. */
  readonly isStatic: boolean;
}

/** Finds what Nest may call. */
@Injectable()
export class Handlers {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  /** Every method of every controller and provider. */
  *all(): Generator<FoundHandler> {
    const controllers = new Set(this.discovery.getControllers());
    for (const wrapper of [...controllers, ...this.discovery.getProviders()]) {
      const owner = wrapper.metatype as Type | null;
      const prototype = owner?.prototype as Record<string, Handler> | undefined;
      if (!owner || !prototype) continue;
      const isController = controllers.has(wrapper);
      for (const name of this.scanner.getAllMethodNames(prototype)) {
        yield { owner, name, handler: prototype[name]!, isController, isStatic: wrapper.isDependencyTreeStatic() };
      }
    }
  }
}
