/** More endpoints than any application declares. */
const MAX_ENDPOINTS = 500;

/** What further ones are called together. */
export const OTHER_ENDPOINTS = '(other)';

/**
 * The names of endpoints as metrics are told them: a bounded number.
 *
 * Plain code names its endpoints itself, and may do so by mistake with what should have been the key.
 */
export class EndpointLabels {
  private readonly known = new Set<string>();

  of(endpoint: string): string {
    if (this.known.has(endpoint)) return endpoint;
    if (this.known.size === MAX_ENDPOINTS) return OTHER_ENDPOINTS;
    this.known.add(endpoint);
    return endpoint;
  }
}
