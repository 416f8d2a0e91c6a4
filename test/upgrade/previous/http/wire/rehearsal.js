import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { headerEntries } from './header-entries.js';
let withHeadSent;
export function rehearse(res) {
    const scratch = new ServerResponse(res.req);
    scratch.statusCode = res.statusCode;
    scratch.statusMessage = res.statusMessage;
    scratch.strictContentLength = res.strictContentLength;
    for (const [name, value] of headerEntries(res))
        scratch.setHeader(name, value);
    return scratch;
}
export function headSent() {
    if (withHeadSent === undefined) {
        withHeadSent = new ServerResponse(new IncomingMessage(new Socket()));
        withHeadSent.writeHead(200);
    }
    return withHeadSent;
}
export function rehearseHead(res, args) {
    const scratch = rehearse(res);
    Reflect.apply(scratch.writeHead, scratch, args);
    return scratch;
}
