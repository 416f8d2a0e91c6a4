import { isMessageHandler } from './messages/handler-metadata.js';
import { consumerSettings, endpointSettings } from './settings.js';
import { declaredHeaders, routeVariant, writesOwnResponse } from './route-metadata.js';
export class Endpoints {
    constructor(options) {
        this.options = options;
        this.known = new Map();
    }
    of(controller, handler, { options, wrapper }) {
        let own = this.known.get(controller);
        if (!own)
            this.known.set(controller, (own = new Map()));
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
    named(name) {
        return this.all().find(({ endpoint }) => endpoint === name);
    }
    get canMakeSteps() {
        return this.options.providerKeySecret !== undefined;
    }
    shortestLeaseMs() {
        const leases = this.all().map(({ leaseMs }) => leaseMs);
        return Math.min(endpointSettings(this.options).leaseMs, ...leases);
    }
    all() {
        return [...this.known.values()].flatMap((endpoints) => [...endpoints.values()]);
    }
}
