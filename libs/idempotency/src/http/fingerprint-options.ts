import { type BodyPath, bodyPath } from './body-paths.js';

/**
 * Which parts of a request count when it is compared with the first one of its key.
 *
 * Method, route, path parameters, query and media type always count, in the form the application gets them in. So does
 * the body, unless something else is said here. A change of these options makes requests from before the change differ
 * from their retries (422) until the retention of their records is over.
 */
export interface FingerprintOptions {
  /**
   * Names of request headers that count too, such as `X-Api-Version`, in any case. Every line of a name counts, in
   * order; a header that is absent is another than one that is empty. Default: none.
   */
  readonly headers?: readonly string[];
  /**
   * JSON Pointers (RFC 6901), such as `/payment/amount`: what counts of a body that was parsed into an object or an
   * array is what they lead to. Whether it is there counts as well: absent is not null. Not together with `omit`.
   */
  readonly pick?: readonly string[];
  /**
   * JSON Pointers (RFC 6901), such as `/requestedAt`: what they lead to in a body that was parsed into an object or an
   * array does not count, nor whether it is there. One that leads nowhere is harmless. Not together with `pick`.
   */
  readonly omit?: readonly string[];
  /**
   * How the body is compared. Default `parsed`: as the value that the application's parser made of it, so that two
   * spellings of one value are the same. `raw`: byte by byte, for bodies that are signed; needs an application that
   * keeps the bytes, as Nest does with `rawBody: true`.
   */
  readonly body?: 'parsed' | 'raw';
}

/** `FingerprintOptions`, every value decided. */
export interface ContentSelection {
  /** In lower case, each once, sorted. */
  readonly headers: readonly string[];
  readonly body: BodySelection;
}

/** What counts of a body; see `FingerprintOptions`. */
export type BodySelection =
  { readonly kind: 'parsed' | 'raw' } | { readonly kind: 'pick' | 'omit'; readonly paths: readonly BodyPath[] };

/** The choice where nothing was chosen. */
export const WHOLE_CONTENT: ContentSelection = { headers: [], body: { kind: 'parsed' } };

const KNOWN: readonly string[] = ['headers', 'pick', 'omit', 'body'] satisfies (keyof FingerprintOptions)[];

/** @throws {Error} naming the option, where one cannot be right. */
export function contentSelection(options: FingerprintOptions): ContentSelection {
  if (typeof options !== 'object' || options === null) throw wrong('', 'must be an object or a function');
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) throw wrong(`.${unknown}`, 'is no option there is');
  return { headers: headersOf(options), body: bodyOf(options) };
}

function headersOf({ headers = [] }: FingerprintOptions): string[] {
  const names = strings('headers', headers);
  const bad = names.find((name) => !/^[!#$%&'*+.^`|~\w-]+$/.test(name));
  if (bad !== undefined) throw wrong('.headers', `holds ${JSON.stringify(bad)}, which is no name of a header`);
  return inOrder(names.map((name) => name.toLowerCase()));
}

function bodyOf({ body = 'parsed', pick, omit }: FingerprintOptions): BodySelection {
  if (body !== 'parsed' && body !== 'raw') throw wrong('.body', "must be 'parsed' or 'raw'");
  if (pick && omit) throw wrong('', 'has both `pick` and `omit`; only one of them can say what counts');
  if (body === 'raw' && (pick ?? omit)) throw wrong('.body', "is 'raw': bytes have no parts to pick or omit");
  if (omit) return { kind: 'omit', paths: paths('omit', omit) };
  if (!pick) return { kind: body };
  if (pick.length === 0) throw wrong('.pick', "is empty, so no body would count. If that is meant, say `omit: ['']`");
  return { kind: 'pick', paths: paths('pick', pick) };
}

function paths(option: 'pick' | 'omit', pointers: readonly string[]): BodyPath[] {
  return inOrder(strings(option, pointers)).map((pointer) => {
    const path = bodyPath(pointer);
    if (path) return path;
    throw wrong(
      `.${option}`,
      `holds ${JSON.stringify(pointer)}, which is no JSON Pointer (RFC 6901), such as '/a/0/b'`,
    );
  });
}

function strings(option: string, given: readonly string[]): readonly string[] {
  if (Array.isArray(given) && given.every((item) => typeof item === 'string')) return given;
  throw wrong(`.${option}`, 'must be a list of strings');
}

/** Each once and sorted: the order in which options are written is not to decide what is stored. */
function inOrder(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

function wrong(option: string, what: string): Error {
  return new Error(`IdempotencyModule: \`fingerprint${option}\` ${what}.`);
}
