import { createHash } from 'node:crypto';

import { describe, expect, it } from '@jest/globals';

import { contentDigest } from './content-digest.js';

const bytesOf = (algorithm: string, content = '{"hello": "world"}\n') => createHash(algorithm).update(content).digest();
const member = (name: string, bytes: Uint8Array) => `${name}=:${Buffer.from(bytes).toString('base64')}:`;
const SHA256 = member('sha-256', bytesOf('sha256'));
const SHA512 = member('sha-512', bytesOf('sha512'));

const digestIn = (...fields: string[]) => contentDigest(fields.flatMap((field) => ['content-digest', field]));

describe('contentDigest', () => {
  it('reads the example of RFC 9530, section 2', () => {
    const found = digestIn('sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:');
    expect(found?.algorithm).toBe('sha-256');
    expect(Buffer.from(found!.digest)).toEqual(bytesOf('sha256'));
  });

  it.each<[what: string, fields: string[], algorithm: string | undefined]>([
    ['SHA-512', [SHA512], 'sha-512'],
    ['SHA-256 where there are both', [`${SHA512}, ${SHA256}`], 'sha-256'],
    ['several lines', [SHA512, SHA256], 'sha-256'],
    ['one among algorithms it does not know', [`md5=:AAAA:, ${SHA512}, x=1, y=(1 2), z`], 'sha-512'],
    ['parameters, which say nothing', [`${SHA256};a=1`], 'sha-256'],
    ['nothing where there is none', [], undefined],
    ['nothing in an empty field', [''], undefined],
    ['nothing in algorithms that do not tell contents apart', ['md5=:AAAA:, crc32c=:AAAA:'], undefined],
  ])('finds %s', (_, fields, algorithm) => {
    expect(digestIn(...fields)?.algorithm).toBe(algorithm);
  });

  it.each([
    'sha-256',
    'sha-256=abc',
    'sha-256="RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg="',
    'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=',
    'sha-256=:RK/0:',
    'sha-256=:::',
    'sha-256=(:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:)',
    `${SHA256},`,
    `${SHA256} ${SHA512}`,
    'SHA-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
    '{"sha-256":"RK"}',
  ])('refuses %s', (field) => {
    expect(() => digestIn(field)).toThrow(
      expect.objectContaining({ code: 'idempotency-payload-invalid', reason: 'digest' }),
    );
  });
});
