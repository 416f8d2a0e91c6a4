import { normalized } from '../wire/normalize.js';

/** Bodies are shown up to so many characters. */
const SHOWN_LENGTH = 400;
const BEGINNING_LENGTH = 160;

/** Stands in place of an answer that never came. */
const SILENCE = '# The connection ends without an answer.';

/** One exchange as a page shows it: the bytes of the request, then those of the answer. */
export function exchangeText(request: string, answer: Buffer): string {
  return `${messageText(Buffer.from(request))}\n\n${answer.length === 0 ? SILENCE : messageText(answer)}`;
}

function messageText(bytes: Buffer): string {
  const text = normalized(bytes);
  const headEnd = text.indexOf('\r\n\r\n');
  const body = text.slice(headEnd + 4);
  return [text.slice(0, headEnd).replaceAll('\r\n', '\n'), ...(body === '' ? [] : ['', shortened(body)])].join('\n');
}

function shortened(body: string): string {
  if (body.length <= SHOWN_LENGTH) return body;
  return `${body.slice(0, BEGINNING_LENGTH)}… <${body.length} bytes in all>`;
}

/**
 * An exchange without what differs between Express and Fastify: the case of the names of response headers, the order of
 * their lines, and the spaces in lists.
 */
export function onEitherPlatform(exchange: string): string {
  const [request, answer] = exchange.split(/\n\n(?=HTTP)/, 2);
  if (answer === undefined) return exchange;
  const [head = '', ...rest] = answer.split('\n\n');
  const [status, ...lines] = head.split('\n');
  return [request, [status, ...lines.map(plainLine).sort()].join('\n'), ...rest].join('\n\n');
}

function plainLine(line: string): string {
  return line.replace(/^[^:]+/, (name) => name.toLowerCase()).replaceAll(', ', ',');
}
