import { describe, expect, it } from '@jest/globals';
import type { ParameterObject, ReferenceObject } from '@nestjs/swagger';

import { withKeyHeader } from './key-parameter.js';

const ENDPOINT = { isRequired: true, retentionMs: 86_400_000 };
const SETTINGS = { header: 'X-Key', problems: { typeBase: '' } };

const withKey = (...theirs: (ParameterObject | ReferenceObject)[]) => withKeyHeader(theirs, ENDPOINT, SETTINGS);

describe('withKeyHeader', () => {
  it('adds the header after parameters of other names and of other places', () => {
    const theirs: (ParameterObject | ReferenceObject)[] = [
      { name: 'id', in: 'path', required: true },
      { name: 'X-Key', in: 'query' },
      { name: 'X-Other-Key', in: 'header' },
      { $ref: '#/components/parameters/Page' },
    ];
    expect(withKey(...theirs)).toEqual([
      ...theirs,
      {
        name: 'X-Key',
        in: 'header',
        required: true,
        description: expect.stringContaining('recorded answer for 1 day.'),
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ]);
  });

  it.each<[what: string, theirs: Partial<ParameterObject>]>([
    ['a schema of its own', { schema: { $ref: '#/components/schemas/Key' } }],
    ['content', { content: { 'text/plain': { schema: { type: 'string' } } } }],
  ])('adds no schema to a header that has %s', (_, theirs) => {
    const [parameter, ...others] = withKey({ name: 'x-key', in: 'header', required: false, ...theirs });
    expect(others).toEqual([]);
    expect(parameter).toEqual({
      name: 'x-key',
      in: 'header',
      required: true,
      description: expect.any(String),
      ...theirs,
    });
  });
});
