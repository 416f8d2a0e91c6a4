import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from '@jest/globals';

import { failureOf, failureOfStatus } from './step-failure.js';
import type { StepFailure } from './step-terms.js';

const error = (members: object, cause?: unknown): Error => Object.assign(new Error('it failed', { cause }), members);

describe('the status of an answer', () => {
  it.each<[StepFailure, number[]]>([
    ['refused', [400, 402, 404, 405, 410, 413, 415, 422, 451, 499]],
    ['no_effect', [401, 403, 429]],
    ['unknown', [408, 409, 424, 425, 500, 501, 502, 503, 504, 599]],
    ['unknown', [0, 100, 200, 201, 204, 302, 304, 600, NaN]],
  ])('says %s where it is one of %j', (failure, statuses) => {
    expect(statuses.map(failureOfStatus)).toEqual(statuses.map(() => failure));
  });
});

describe('a failure', () => {
  it.each<[string, unknown, StepFailure]>([
    ['a status', error({ status: 402 }), 'refused'],
    ['a status code', error({ statusCode: 429 }), 'no_effect'],
    ['a response', error({ response: { status: 500 } }), 'unknown'],
    ['a response that is none', error({ response: null }), 'unknown'],
    ['no number for a status', error({ status: '402' }), 'unknown'],
    ['a cause with a status', error({}, error({}, error({ status: 422 }))), 'refused'],
    ['a status of its own before that of its cause', error({ status: 503 }, error({ status: 402 })), 'unknown'],
    ['a status before what its connection did', error({ status: 502, syscall: 'connect' }), 'unknown'],
    ['a connection that was not made', error({ code: 'ECONNREFUSED', syscall: 'connect' }), 'no_effect'],
    ['a connection that took too long to make', error({ code: 'ETIMEDOUT', syscall: 'connect' }), 'no_effect'],
    ['a name that is not known', error({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }), 'no_effect'],
    ['the same as a cause', error({}, error({ code: 'EAI_AGAIN', syscall: 'getaddrinfo' })), 'no_effect'],
    [
      'a connection that fetch could not make in time',
      error({}, error({ code: 'UND_ERR_CONNECT_TIMEOUT' })),
      'no_effect',
    ],
    ['a connection that was lost', error({ code: 'ECONNRESET', syscall: 'read' }), 'unknown'],
    [
      'a connection whose other side has become unreachable',
      error({ code: 'EHOSTUNREACH', syscall: 'read' }),
      'unknown',
    ],
    ['a code without what it came of', error({ code: 'ECONNREFUSED' }), 'unknown'],
    ['a deadline', new DOMException('it took too long', 'TimeoutError'), 'unknown'],
    ['nothing', error({}), 'unknown'],
    ['itself as a cause', Object.assign(error({}), { cause: null }), 'unknown'],
    ['no error', 'a text', 'unknown'],
    ['no value', undefined, 'unknown'],
  ])('with %s is judged by it', (_, thrown, failure) => {
    expect(failureOf(thrown)).toBe(failure);
  });

  it('at every address of a name had no effect; at one of them it may have had', () => {
    const refused = error({ code: 'ECONNREFUSED', syscall: 'connect' });
    const reset = error({ code: 'ECONNRESET', syscall: 'read' });
    expect(failureOf(new AggregateError([refused, refused]))).toBe('no_effect');
    expect(failureOf(error({}, new AggregateError([refused])))).toBe('no_effect');
    expect(failureOf(new AggregateError([refused, reset]))).toBe('unknown');
    expect(failureOf(new AggregateError([]))).toBe('unknown');
  });

  it('ends where its causes go round in a circle', () => {
    const [one, other] = [error({}), error({})];
    Object.assign(one, { cause: other });
    Object.assign(other, { cause: one });
    expect(failureOf(one)).toBe('unknown');
  });
});

describe('a fetch', () => {
  const failureOfFetch = async (url: string, signal?: AbortSignal): Promise<StepFailure> =>
    fetch(url, { method: 'POST', ...(signal && { signal }) }).then(
      () => Promise.reject(new Error('It was answered.')),
      failureOf,
    );

  it('to where nobody listens had no effect', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOfFetch(`http://127.0.0.1:${port}`)).toBe('no_effect');
    expect(await failureOfFetch(`http://localhost:${port}`)).toBe('no_effect');
  });

  it('whose connection is cut, or whose caller gives up, may have had its effect', async () => {
    const control = new AbortController();
    const server = createServer((request) =>
      request.url === '/cut' ? request.socket.destroy() : control.abort(new Error('It took too long.')),
    );
    await new Promise<void>((resolve) => server.listen(0, resolve));
    const { port } = server.address() as AddressInfo;
    try {
      expect(await failureOfFetch(`http://127.0.0.1:${port}/cut`)).toBe('unknown');
      expect(await failureOfFetch(`http://127.0.0.1:${port}/silent`, control.signal)).toBe('unknown');
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
