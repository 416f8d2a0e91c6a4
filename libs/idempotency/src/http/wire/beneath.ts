import type { ServerResponse } from 'node:http';

/** The calls of a response that are held. */
export const HELD_METHODS = [
  'writeHead',
  'write',
  'end',
  'flushHeaders',
  'setHeader',
  'setHeaders',
  'appendHeader',
  'removeHeader',
  'destroy',
] as const;

export type HeldMethod = (typeof HELD_METHODS)[number];

/** One method of a response, whoever put it there. */
export type ResponseCall = (this: ServerResponse, ...args: unknown[]) => unknown;

export type ResponseCalls = Record<HeldMethod, ResponseCall>;

/**
 * Puts `calls` on top of the response and returns what lies beneath: Node's own, or the patches of middleware.
 *
 * @param earlier What lay beneath when the same calls were put on this response before; they may still be there, under
 *   somebody's patch.
 */
export function layOver(res: ServerResponse, calls: ResponseCalls, earlier?: ResponseCalls): ResponseCalls {
  const target = res as unknown as ResponseCalls;
  const beneath = earlier ?? {
    writeHead: target.writeHead,
    write: target.write,
    end: target.end,
    flushHeaders: target.flushHeaders,
    setHeader: target.setHeader,
    setHeaders: target.setHeaders,
    appendHeader: target.appendHeader,
    removeHeader: target.removeHeader,
    destroy: target.destroy,
  };
  for (const method of HELD_METHODS) {
    if (target[method] === beneath[method]) target[method] = calls[method];
  }
  return beneath;
}

/**
 * Puts back what lay beneath, except where somebody has patched over ours since: that patch holds on to our function,
 * which then has to pass the call on. Assigned and not deleted, because a delete makes the whole response slow.
 */
export function takeOff(res: ServerResponse, calls: ResponseCalls, beneath: ResponseCalls): void {
  const target = res as unknown as ResponseCalls;
  for (const method of HELD_METHODS) {
    if (target[method] === calls[method]) target[method] = beneath[method];
  }
}
