import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { headerEntries } from './header-entries.js';

let withHeadSent: ServerResponse | undefined;

/**
 * Makes a response without a connection that stands where `res` stands: what `res` would throw, it throws.
 * Calls that look wrong are made here first, so that the caller gets Node's own error and nothing has happened.
 */
export function rehearse(res: ServerResponse): ServerResponse {
  const scratch = new ServerResponse(res.req);
  scratch.statusCode = res.statusCode;
  scratch.statusMessage = res.statusMessage;
  scratch.strictContentLength = res.strictContentLength;
  for (const [name, value] of headerEntries(res)) scratch.setHeader(name, value);
  return scratch;
}

/** A response whose head is sent: it throws Node's own error at whoever still tries to change a head. */
export function headSent(): ServerResponse {
  if (withHeadSent === undefined) {
    withHeadSent = new ServerResponse(new IncomingMessage(new Socket()));
    withHeadSent.writeHead(200);
  }
  return withHeadSent;
}

/** Writes the head of such a response: throws what `writeHead` would throw. */
export function rehearseHead(res: ServerResponse, args: readonly unknown[]): ServerResponse {
  const scratch = rehearse(res);
  Reflect.apply(scratch.writeHead, scratch, args);
  return scratch;
}
