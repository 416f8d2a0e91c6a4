import { Readable } from 'node:stream';

import { describe, expect, it } from '@jest/globals';

import { sameFingerprint } from '../core/fingerprint.js';
import { contentSelection, type FingerprintOptions } from './fingerprint-options.js';
import { customFingerprint, requestFingerprint } from './payload.js';
import type { RequestContent } from './request-content.js';

const content: RequestContent = {
  method: 'POST',
  pattern: '/payments',
  params: {},
  query: {},
  rawHeaders: [],
  contentType: 'application/json',
  hasBody: true,
  body: { amount: 4999, currency: 'usd' },
  rawBody: undefined,
};

const isSame = (change: Partial<RequestContent>) =>
  sameFingerprint(requestFingerprint(content), requestFingerprint({ ...content, ...change }));

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('requestFingerprint', () => {
  it('is stored as these bytes', () => {
    expect(hex(requestFingerprint(content))).toBe('01756068c02c90a896b668953f19eaaadb4e84703dd38d003cd21956978310b9cb');
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['the order of members', { body: { currency: 'usd', amount: 4999 } }],
    ['parameters of the media type', { contentType: 'Application/JSON; charset=utf-8' }],
  ])('does not depend on %s', (_, change) => {
    expect(isSame(change)).toBe(true);
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['the method', { method: 'PUT' }],
    ['the pattern', { pattern: '/refunds' }],
    ['path parameters', { params: { id: '1' } }],
    ['the query', { query: { a: '1' } }],
    ['the media type', { contentType: 'application/merge-patch+json' }],
    ['the body', { body: { amount: 5000, currency: 'usd' } }],
    ['there being a body', { hasBody: false, body: undefined }],
    ['null in place of a body', { body: null }],
    ['an empty object in place of a body', { body: {} }],
    ['text that looks the same', { contentType: 'text/plain', body: '{"amount":4999,"currency":"usd"}' }],
  ])('depends on %s', (_, change) => {
    expect(isSame(change)).toBe(false);
  });

  it('tells a message without a body from every body, whatever a parser made of it', () => {
    const none = { hasBody: false, body: undefined };
    const readAsEmpty = { hasBody: false, body: {} };
    const fingerprints = [none, readAsEmpty, { body: {} }, { body: null }, { body: '' }].map((change) =>
      hex(requestFingerprint({ ...content, ...change })),
    );
    expect(new Set(fingerprints).size).toBe(fingerprints.length);
  });

  it('tells bodies apart that no header announces', () => {
    const [one, other] = [{ amount: 1 }, { amount: 2 }].map((body) =>
      requestFingerprint({ ...content, hasBody: false, body }),
    );
    expect(sameFingerprint(one!, other!)).toBe(false);
  });

  it('keeps the order of repeated query values', () => {
    const inOrder = requestFingerprint({ ...content, query: { tag: ['a', 'b'] } });
    expect(sameFingerprint(inOrder, requestFingerprint({ ...content, query: { tag: ['b', 'a'] } }))).toBe(false);
  });

  it('tells text from bytes, and texts apart that no UTF-8 can express', () => {
    const bodies = [Buffer.from('a'), 'a', '\ud800', '\ud801', '\ufffd'];
    const fingerprints = bodies.map((body) => hex(requestFingerprint({ ...content, contentType: 'text/plain', body })));
    expect(new Set(fingerprints).size).toBe(bodies.length);
  });

  it('does not depend on the boundary of a multipart body', () => {
    const digest = ['Content-Digest', `sha-256=:${Buffer.alloc(32).toString('base64')}:`];
    const [one, other] = ['a', 'b'].map((boundary) =>
      requestFingerprint({
        ...content,
        contentType: `multipart/form-data; boundary=${boundary}`,
        rawHeaders: digest,
        body: undefined,
      }),
    );
    expect(sameFingerprint(one!, other!)).toBe(true);
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['a body that nothing has parsed', { contentType: 'application/xml', body: undefined }],
    ['a body that is still a stream', { contentType: 'application/xml', body: Readable.from(['a']) }],
    ['a body without a media type', { contentType: undefined, body: undefined }],
    ['a multipart body', { contentType: 'Multipart/Form-Data; boundary=a', body: undefined }],
    ['a multipart body whose files nobody can see', { contentType: 'multipart/form-data', body: { name: 'Ada' } }],
    ['a multipart body kept as bytes', { contentType: 'multipart/mixed', body: Buffer.from('--a') }],
    ['a body read into something that cannot be compared', { body: new Map([['a', 1]]) }],
  ])('refuses %s', (_, change) => {
    const unsupported = expect.objectContaining({ code: 'idempotency-payload-unsupported' });
    expect(() => requestFingerprint({ ...content, ...change })).toThrow(unsupported);
  });
});

describe('requestFingerprint, of what endpoints choose', () => {
  const chosen = (options: FingerprintOptions, change: Partial<RequestContent> = {}) =>
    requestFingerprint({ ...content, ...change }, contentSelection(options));
  const isSameChoice = (options: FingerprintOptions, a: Partial<RequestContent>, b: Partial<RequestContent>) =>
    sameFingerprint(chosen(options, a), chosen(options, b));

  const digest = Buffer.alloc(32, 7).toString('base64');
  it.each<[what: string, options: FingerprintOptions, change: Partial<RequestContent>, stored: string]>([
    ['nothing special', {}, {}, '01756068c02c90a896b668953f19eaaadb4e84703dd38d003cd21956978310b9cb'],
    [
      'a header',
      { headers: ['X-Version'] },
      { rawHeaders: ['x-version', '2'] },
      '01f623d11e447a7dd829f8a76d49188818e3a064eca1ca0845298e49dfa0a4e1b9',
    ],
    [
      'picked parts',
      { pick: ['/amount', '/note'] },
      {},
      '0135a8d899a4095ad785800139c1cb36ec35b6ed4af78a86ed134b30abe95f6a6f',
    ],
    [
      'what is not left out',
      { omit: ['/amount'] },
      {},
      '01c327d9be31247e75caa78182ba4dc1fdd07680d32e077c41aaf29f3f47d03365',
    ],
    [
      'bytes',
      { body: 'raw' },
      { rawBody: Buffer.from('{}') },
      '010927250a870bae63ba24c3d9431df940fd1c380469f2a3b2a9b74a7dfaddbfcb',
    ],
    [
      'a digest',
      {},
      { body: undefined, rawHeaders: ['Content-Digest', `sha-256=:${digest}:`] },
      '01330845a42d047edc4ac21a30af8073d7dff2e63493acf28e9ade5f022ea86b8a',
    ],
    [
      'a text',
      {},
      { contentType: 'text/plain', body: 'a' },
      '01a831a97436fda522dbecfd840daa5ceee9ca473f1e33bfc66fe827a2531ccd32',
    ],
    [
      'no body',
      {},
      { hasBody: false, body: undefined },
      '01a5eacf43ad16772c1a3f984bedc0b4dc9698e6b204b658424b4226b71a3ebb2b',
    ],
  ])('of %s is stored as these bytes', (_, options, change, stored) => {
    expect(hex(chosen(options, change))).toBe(stored);
  });

  it('tells header lines apart by number, order and presence', () => {
    const lines = [[], ['X-A', ''], ['X-A', '1'], ['X-A', '1', 'X-A', '2'], ['X-A', '2', 'X-A', '1'], ['X-A', '1, 2']];
    const fingerprints = lines.map((rawHeaders) => hex(chosen({ headers: ['x-a'] }, { rawHeaders })));
    expect(new Set(fingerprints).size).toBe(lines.length);
  });

  it('does not mistake one header for another', () => {
    const options = { headers: ['X-A', 'X-B'] };
    expect(isSameChoice(options, { rawHeaders: ['X-A', '1'] }, { rawHeaders: ['X-B', '1'] })).toBe(false);
  });

  it('does not depend on the order in which options are written', () => {
    const rawHeaders = ['X-A', '1', 'X-B', '2'];
    const one = chosen({ headers: ['X-A', 'X-B'], pick: ['/amount', '/currency'] }, { rawHeaders });
    const other = chosen({ headers: ['x-b', 'x-a', 'X-A'], pick: ['/currency', '/amount'] }, { rawHeaders });
    expect(sameFingerprint(one, other)).toBe(true);
  });

  it.each<[what: string, options: FingerprintOptions, a: unknown, b: unknown, isEqual: boolean]>([
    ['picked parts', { pick: ['/a'] }, { a: 1, b: 1 }, { a: 1, b: 2 }, true],
    ['picked parts', { pick: ['/a'] }, { a: 1, b: 1 }, { a: 2, b: 1 }, false],
    ['the absence of a picked part', { pick: ['/a'] }, { b: 1 }, { c: 2 }, true],
    ['the absence of a picked part', { pick: ['/a'] }, { a: null }, {}, false],
    ['which part was picked', { pick: ['/a', '/b'] }, { a: 1 }, { b: 1 }, false],
    ['the whole, where it is picked', { pick: [''] }, { a: 1 }, { a: 1, b: 1 }, false],
    ['a body without parts to pick', { pick: ['/a'] }, 'text', 'other', false],
    ['a body without parts to pick', { pick: ['/a'] }, Buffer.from('1'), Buffer.from('2'), false],
    ['a body without parts to pick', { pick: ['/a'] }, null, 0, false],
    ['what is left out', { omit: ['/b'] }, { a: 1, b: 1 }, { a: 1 }, true],
    ['what is left out', { omit: ['/b'] }, { a: 1, b: 1 }, { a: 2, b: 1 }, false],
    ['anything, where the whole is left out', { omit: [''] }, { a: 1 }, [2], true],
    ['the kind of body, where the whole is left out', { omit: [''] }, { a: 1 }, 'text', false],
  ])('looks at %s: %j', (_, options, a, b, isEqual) => {
    expect(isSameChoice(options, { body: a }, { body: b })).toBe(isEqual);
  });

  it('takes the bytes where raw bodies are compared, and what a parser left as bytes', () => {
    const raw = { body: 'raw' } as const;
    expect(isSameChoice(raw, { rawBody: Buffer.from('{}') }, { rawBody: Buffer.from('{ }') })).toBe(false);
    expect(isSameChoice(raw, { rawBody: Buffer.from('{}') }, { body: Buffer.from('{}') })).toBe(true);
  });

  it('fails where raw bodies are to be compared and the application does not keep them', () => {
    const broken = expect.objectContaining({
      code: 'idempotency-fingerprint-failed',
      message: expect.stringContaining('`rawBody: true`'),
    });
    expect(() => chosen({ body: 'raw' })).toThrow(broken);
  });

  it('refuses an unread body where raw bodies are compared', () => {
    expect(() => chosen({ body: 'raw' }, { body: undefined })).toThrow('does not read');
  });
});

describe('customFingerprint', () => {
  it('is stored as these bytes', () => {
    expect(hex(customFingerprint(content, { amount: 1 }))).toBe(
      '016c4ba9b03b8cb01c838202a2b0bb5bf10e5c6eeca63719a7e83a0ff5bb944900',
    );
    expect(hex(customFingerprint(content, Buffer.from('a')))).toBe(
      '01332b7e753b77b182ae1e1c60736db3859de88f5965fbde62c834464eecd7c84f',
    );
  });

  it.each<[what: string, change: Partial<RequestContent>]>([
    ['the method', { method: 'PUT' }],
    ['the pattern', { pattern: '/refunds' }],
    ['path parameters', { params: { id: '1' } }],
  ])('depends on %s', (_, change) => {
    const [one, other] = [customFingerprint(content, 'a'), customFingerprint({ ...content, ...change }, 'a')];
    expect(sameFingerprint(one, other)).toBe(false);
  });

  it('leaves query, media type and body to the function', () => {
    const other = { ...content, query: { a: '1' }, contentType: 'multipart/form-data', body: undefined };
    expect(sameFingerprint(customFingerprint(content, 'a'), customFingerprint(other, 'a'))).toBe(true);
  });

  it('is another for every other value', () => {
    const values = [
      '',
      'a',
      '"a"',
      null,
      [],
      {},
      { a: undefined },
      { a: null },
      0,
      -0,
      Buffer.from('a'),
      Buffer.alloc(0),
    ];
    const fingerprints = [...values.map((value) => customFingerprint(content, value)), requestFingerprint(content)];
    expect(new Set(fingerprints.map(hex)).size).toBe(fingerprints.length);
  });

  it.each<[what: string, value: unknown]>([
    ['undefined', undefined],
    ['a function', () => 1],
    ['a bigint', { amount: 1n }],
    ['a date', new Date(0)],
    [
      'what contains itself',
      (() => {
        const value: unknown[] = [];
        value.push(value);
        return value;
      })(),
    ],
  ])('fails for %s, and names the option', (_, value) => {
    const broken = expect.objectContaining({
      code: 'idempotency-fingerprint-failed',
      message: expect.stringContaining('`fingerprint`'),
      cause: expect.any(Error),
    });
    expect(() => customFingerprint(content, value)).toThrow(broken);
  });
});
