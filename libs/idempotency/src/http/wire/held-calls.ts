import type { ResponseCalls } from './beneath.js';
import { destroy, end, write } from './held-body-calls.js';
import { appendHeader, flushHeaders, removeHeader, setHeader, setHeaders, writeHead } from './held-head-calls.js';

/** The functions that lie on every held response; they are shared, and find their state from `this`. */
export const heldCalls: ResponseCalls = {
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
