import { destroy, end, write } from './held-body-calls.js';
import { appendHeader, flushHeaders, removeHeader, setHeader, setHeaders, writeHead } from './held-head-calls.js';
export const heldCalls = {
    writeHead,
    write,
    end,
    flushHeaders,
    setHeader,
    setHeaders,
    appendHeader,
    removeHeader,
    destroy,
};
