import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

export type HeaderValue = number | string | string[];

/** Headers of an answer, wherever its platform keeps them. */
export interface HeaderAccess {
  get(name: string): HeaderValue | undefined;
  set(name: string, value: HeaderValue): unknown;
  remove(name: string): unknown;
}

/** How things stood before a handler ran. */
export interface Checkpoint {
  /** False once the handler has read the body as a stream, which can be read only once. */
  readonly isReachable: boolean;
  restore(): void;
}

type Input = 'body' | 'params' | 'query';

export function checkpointOf(
  input: { -readonly [Name in Input]?: unknown },
  raw: IncomingMessage,
  restores: readonly (() => void)[],
): Checkpoint | null {
  const restoreInput = rememberInput(input);
  if (!restoreInput) return null;
  const wasRead = raw.readableDidRead;
  return {
    get isReachable() {
      return raw.readableDidRead === wasRead;
    },
    restore: () => {
      for (const restore of [restoreInput, ...restores]) restore();
    },
  };
}

/** Remembers what the parsers made of the request, before the handler can change it; null where it cannot be copied. */
function rememberInput(input: { -readonly [Name in Input]?: unknown }): (() => void) | null {
  // Express 5 parses the query whenever it is asked for.
  const names = (['body', 'params', 'query'] as const).filter((name) => Object.hasOwn(input, name));
  try {
    const before = names.map((name) => [name, copyOf(input[name])] as const);
    return () => {
      for (const [name, value] of before) input[name] = copyOf(value);
    };
  } catch {
    return null;
  }
}

function copyOf(value: unknown): unknown {
  return Buffer.isBuffer(value) ? Buffer.from(value) : structuredClone(value);
}

export function rememberStatus(answer: { statusCode: number }, raw: ServerResponse): () => void {
  const { statusCode } = answer;
  const { statusMessage } = raw;
  return () => {
    answer.statusCode = statusCode;
    raw.statusMessage = statusMessage;
  };
}

/** Remembers all headers; the returned function brings them back, and removes what came since. */
export function rememberHeaders(all: () => OutgoingHttpHeaders, access: HeaderAccess): () => void {
  const before = Object.entries(all()).map(
    ([name, value]) => [name, Array.isArray(value) ? [...value] : value] as const,
  );
  return () => {
    for (const name of Object.keys(all())) access.remove(name);
    for (const [name, value] of before) if (value !== undefined) access.set(name, value);
  };
}
