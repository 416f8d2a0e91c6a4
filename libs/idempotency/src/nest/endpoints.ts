import { type Type } from '@nestjs/common';

import type { IdempotentMark } from './idempotent.decorator.js';
import type { IdempotencyModuleOptions } from './options.js';
import { isMessageHandler } from './messages/handler-metadata.js';
import { consumerSettings, type EndpointSettings, endpointSettings } from './settings.js';
import { declaredHeaders, type Handler, routeVariant, writesOwnResponse } from './route-metadata.js';

/** Everything that is fixed about one idempotent handler. */
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
  private readonly known = new Map<Type, Map<symbol, Endpoint>>();

  constructor(private readonly options: IdempotencyModuleOptions) {}

  /** @throws {Error} naming the option, where one cannot be right. */
  of(controller: Type, handler: Handler, { options, wrapper }: IdempotentMark): Endpoint {
    // Controllers that inherit a handler share its wrapper, and nothing else.
    let own = this.known.get(controller);
    if (!own) this.known.set(controller, (own = new Map<symbol, Endpoint>()));
    let endpoint = own.get(wrapper);
    if (!endpoint) {
      endpoint = {
        ...(isMessageHandler(handler) ? consumerSettings : endpointSettings)(this.options, options),
        wrapper,
        variant: routeVariant(controller, handler),
        writesOwnResponse: writesOwnResponse(controller, handler.name),
        declaredHeaders: declaredHeaders(handler),
      };
      own.set(wrapper, endpoint);
    }
    return endpoint;
  }

  /** The endpoint that was given this name; those of all decorated handlers are known once the application has started. */
  named(name: string): Endpoint | undefined {
    return this.all().find(({ endpoint }) => endpoint === name);
  }

  /** Whether there is what the keys of steps are derived with. */
  get canMakeSteps(): boolean {
    return this.options.providerKeySecret !== undefined;
  }

  /** The shortest lease of any endpoint, or of the module, in milliseconds. */
  shortestLeaseMs(): number {
    const leases = this.all().map(({ leaseMs }) => leaseMs);
    return Math.min(endpointSettings(this.options).leaseMs, ...leases);
  }

  private all(): Endpoint[] {
    return [...this.known.values()].flatMap((endpoints) => [...endpoints.values()]);
  }
}
