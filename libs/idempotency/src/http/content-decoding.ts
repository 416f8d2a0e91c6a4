import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';
import type { RecordedHeader } from '../core/recording.js';

/** A body as it is recorded, and the headers it then needs. */
export interface Content {
  /** The Content-Encoding of bytes that could not be decoded; otherwise none. */
  readonly headers: readonly RecordedHeader[];
  readonly body: Buffer | null;
}

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const unzip: Decoder = promisify(gunzip);
const inflateWrapped: Decoder = promisify(inflate);
const inflateBare: Decoder = promisify(inflateRaw);

const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', unzip],
  ['x-gzip', unzip],
  ['deflate', decodeDeflate],
  ['br', promisify(brotliDecompress)],
  ['identity', (body) => Promise.resolve(body)],
]);

/**
 * Undoes the content coding of an answer's body.
 *
 * Bytes in a coding that is not known, that are not what their coding says, or that would be longer than `limitBytes`
 * stay as they are, and keep their Content-Encoding.
 */
export async function decodedContent(
  headers: readonly RecordedHeader[],
  body: Buffer | null,
  limitBytes: number,
): Promise<Content> {
  const lines = headers.filter(([name]) => name.toLowerCase() === 'content-encoding');
  if (body === null || body.length === 0 || lines.length === 0) return { headers: [], body };
  const decoded = await decode(body, codingsIn(lines), limitBytes);
  return decoded === null ? { headers: lines, body } : { headers: [], body: decoded };
}

/** In the order they were applied. */
function codingsIn(lines: readonly RecordedHeader[]): string[] {
  const codings = lines.flatMap(([, value]) => value.split(','));
  return codings.map((coding) => coding.trim().toLowerCase()).filter((coding) => coding !== '');
}

async function decode(body: Buffer, codings: readonly string[], maxOutputLength: number): Promise<Buffer | null> {
  const decoders = codings.map((coding) => DECODERS.get(coding)).reverse();
  let decoded = body;
  for (const decoder of decoders) {
    if (decoder === undefined) return null;
    try {
      decoded = await decoder(decoded, { maxOutputLength });
    } catch {
      return null;
    }
  }
  return decoded;
}

/** Some servers send deflate without the zlib wrapper that RFC 9110 asks for; its first byte tells. */
function decodeDeflate(body: Buffer, options: { maxOutputLength: number }): Promise<Buffer> {
  const isWrapped = ((body[0] ?? 0) & 0x0f) === 8;
  return isWrapped ? inflateWrapped(body, options) : inflateBare(body, options);
}
