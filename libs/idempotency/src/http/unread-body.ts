import type { IncomingMessage } from 'node:http';

/**
 * Whether a body that the headers announce, and that nobody has begun to read, turns out to have no content: proxies
 * send requests without a body as an empty chunked one.
 *
 * Nothing is read from it, and whoever reads it later finds it as it was. Waits for its first byte, its end, or the
 * client's leaving.
 */
export async function isEmptyBody(request: IncomingMessage): Promise<boolean> {
  if (request.readableFlowing !== null || request.readableDidRead) return false;
  if (request.readableLength === 0 && !request.complete && !request.destroyed) await firstSign(request);
  return request.readableLength === 0 && request.complete;
}

function firstSign(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const seen = (): void => {
      request.off('readable', seen).off('close', seen);
      resolve();
    };
    request.on('readable', seen).on('close', seen);
  });
}
