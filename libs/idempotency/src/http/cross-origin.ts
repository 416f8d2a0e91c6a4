import { DEFAULT_KEY_HEADER } from './key-header.js';
import { REPLAYED_HEADER } from './wire/replay.js';

/** What a page of another origin cannot read unless it is exposed; `Content-Type` and `Cache-Control` it always can. */
const EXPOSED = [REPLAYED_HEADER, 'Retry-After', 'Link', 'Location'];

export interface IdempotencyCorsOptions {
  /** The request header that carries the key, where the module is told another. Default `Idempotency-Key`. */
  readonly header?: string;
  /** The request headers that your pages send; those they need for a key are added. Leave it out to allow any. */
  readonly allowedHeaders?: readonly string[];
  /** The response headers that your pages read; those of the library are added. */
  readonly exposedHeaders?: readonly string[];
}

/** Names of headers, in the form that `enableCors()` takes on Express and on Fastify. */
export interface IdempotencyCors {
  /** Only there where a list was given: a list takes the place of allowing whatever the browser asks for. */
  readonly allowedHeaders?: string[];
  readonly exposedHeaders: string[];
}

/** The headers that CORS has to let through, so that pages of other origins can send keys and see replays. */
export function idempotencyCors(options: IdempotencyCorsOptions = {}): IdempotencyCors {
  const { header = DEFAULT_KEY_HEADER, allowedHeaders, exposedHeaders = [] } = options;
  return {
    ...(allowedHeaders && { allowedHeaders: union(allowedHeaders, [header, 'Content-Type']) }),
    exposedHeaders: union(exposedHeaders, EXPOSED),
  };
}

/** Both lists, no name twice in whatever case. */
function union(own: readonly string[], added: readonly string[]): string[] {
  const names = new Set(own.map((name) => name.toLowerCase()));
  return [...own, ...added.filter((name) => !names.has(name.toLowerCase()))];
}
