import { describe, expect, it } from '@jest/globals';

import { contentSelection, type FingerprintOptions } from './fingerprint-options.js';

describe('contentSelection', () => {
  it('takes headers in any case and order, each once', () => {
    expect(contentSelection({ headers: ['X-B', 'x-a', 'x-b'] }).headers).toEqual(['x-a', 'x-b']);
  });

  it('takes pointers apart', () => {
    expect(contentSelection({ omit: ['/b', '/a~1b/0'] }).body).toEqual({ kind: 'omit', paths: [['a/b', '0'], ['b']] });
  });

  it('leaves out nothing where the list is empty', () => {
    expect(contentSelection({ omit: [] }).body).toEqual({ kind: 'omit', paths: [] });
  });

  it.each<[options: unknown, message: string]>([
    [null, '`fingerprint` must be an object or a function'],
    ['raw', '`fingerprint` must be an object or a function'],
    [{ header: ['X-A'] }, '`fingerprint.header` is no option there is'],
    [['X-A'], '`fingerprint.0` is no option there is'],
    [{ headers: 'X-A' }, '`fingerprint.headers` must be a list of strings'],
    [{ headers: ['X A'] }, '`fingerprint.headers` holds "X A"'],
    [{ headers: [''] }, '`fingerprint.headers` holds ""'],
    [{ pick: ['/a'], omit: ['/b'] }, 'has both `pick` and `omit`'],
    [{ pick: ['amount'] }, '`fingerprint.pick` holds "amount", which is no JSON Pointer'],
    [{ omit: ['/~2'] }, '`fingerprint.omit` holds "/~2", which is no JSON Pointer'],
    [{ omit: '/a' }, '`fingerprint.omit` must be a list of strings'],
    [{ omit: [1] }, '`fingerprint.omit` must be a list of strings'],
    [{ pick: [] }, '`fingerprint.pick` is empty'],
    [{ body: 'bytes' }, "`fingerprint.body` must be 'parsed' or 'raw'"],
    [{ body: 'raw', omit: ['/a'] }, "`fingerprint.body` is 'raw'"],
  ])('refuses %j', (options, message) => {
    expect(() => contentSelection(options as FingerprintOptions)).toThrow(message);
  });
});
