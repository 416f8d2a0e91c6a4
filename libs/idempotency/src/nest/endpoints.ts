import { type Type } from '@nestjs/common';

import type { IdempotentMark } from './idempotent.decorator.js';
import type { IdempotencyModuleOptions } from './options.js';
import { type EndpointSettings, endpointSettings } from './settings.js';
import { declaredHeaders, type Handler, routeVariant, writesOwnResponse } from './route-metadata.js';

/** Everything that is fixed about one idempotent route. */
export interface Endpoint extends EndpointSettings {
  readonly wrapper: symbol;
  /** Tells it apart from routes of the same path; see `routeVariant`. */
  readonly variant: string;
  readonly writesOwnResponse: boolean;
  /** Lower-case names of the headers the route declares. */
  readonly declaredHeaders: readonly string[];
}

/** The endpoints of one application, each worked out once. */
export class Endpoints {
  private readonly known = new Map<symbol, Endpoint>();

  constructor(private readonly options: IdempotencyModuleOptions) {}

  /** @throws {Error} naming the option, where one cannot be right. */
  of(controller: Type, handler: Handler, { options, wrapper }: IdempotentMark): Endpoint {
    let endpoint = this.known.get(wrapper);
    if (!endpoint) {
      endpoint = {
        ...endpointSettings(this.options, options),
        wrapper,
        variant: routeVariant(controller, handler),
        writesOwnResponse: writesOwnResponse(controller, handler.name),
        declaredHeaders: declaredHeaders(handler),
      };
      this.known.set(wrapper, endpoint);
    }
    return endpoint;
  }

  /** The endpoint that was given this name; those of all decorated handlers are known once the application has started. */
  named(name: string): Endpoint | undefined {
    return [...this.known.values()].find(({ endpoint }) => endpoint === name);
  }

  /** Whether there is what the keys of steps are derived with. */
  get canMakeSteps(): boolean {
    return this.options.providerKeySecret !== undefined;
  }

  /** The shortest lease of any endpoint, or of the module, in milliseconds. */
  shortestLeaseMs(): number {
    const leases = [...this.known.values()].map(({ leaseMs }) => leaseMs);
    return Math.min(endpointSettings(this.options).leaseMs, ...leases);
  }
}
