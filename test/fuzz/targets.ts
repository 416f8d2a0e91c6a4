import fc from 'fast-check';

const BROKEN_ENCODINGS = [
  '%',
  '%2',
  '%zz',
  '%00',
  '%c0%af',
  '%ff',
  '%e2%82',
  '%f0%28%8c%28',
  '%ed%a0%80',
  '%25',
  '%2f',
];
const ODD_PARTS = [
  '.',
  '..',
  '',
  ';a=1',
  '*',
  ':id',
  'a b',
  "'",
  '"',
  '<',
  '\\',
  '{}',
  '|',
  '^',
  '\u00fc',
  '\u00ff',
  '\x7f',
];

const segment = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('1', '2', 'a') },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom('1', 'a', ...BROKEN_ENCODINGS, ...ODD_PARTS), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.constantFrom(100, 2_000, 10_000).map((length) => 'p'.repeat(length)) },
);

const NAMES = [
  'a',
  'b',
  '',
  'a[]',
  'a[b]',
  'a[b][c]',
  'a[0]',
  'a.b',
  '__proto__',
  '__proto__[x]',
  'constructor[prototype][x]',
];
const pair = fc
  .tuple(
    fc.constantFrom(...NAMES, 'toString', 'hasOwnProperty', ...BROKEN_ENCODINGS),
    fc.constantFrom(
      '',
      '=',
      '=1',
      '=2',
      '=1,2',
      '==',
      '=%00',
      '=+',
      '=[object Object]',
      ...BROKEN_ENCODINGS.map((text) => `=${text}`),
    ),
  )
  .map((parts) => parts.join(''));

const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 3, arbitrary: fc.array(pair, { maxLength: 6 }).map((pairs) => `?${pairs.join('&')}`) },
  { weight: 1, arbitrary: fc.constantFrom('?', '??', '?&&&', '?#', '#a?b', '?a=1#b', '?\u00ff', '?a=\x7f') },
  { weight: 1, arbitrary: fc.constantFrom(10, 1_200).map((times) => `?${'a=1&'.repeat(times)}`) },
  { weight: 1, arbitrary: fc.constantFrom(3, 40, 1_500).map((depth) => `?a${'[b]'.repeat(depth)}=1`) },
  { weight: 1, arbitrary: fc.constantFrom(1_000, 12_000).map((length) => `?a=${'q'.repeat(length)}`) },
);

/** One of the application's routes, with whatever a client can put in its path and its query. */
export const routes: fc.Arbitrary<readonly [method: string, target: string]> = fc
  .tuple(
    fc.oneof(
      fc.constant(['POST', '/things'] as const),
      segment.map((id) => ['POST', `/things/${id}/parts`] as const),
      segment.map((id) => ['PUT', `/things/${id}`] as const),
      segment.map((id) => ['PATCH', `/things/${id}`] as const),
      segment.map((id) => ['DELETE', `/things/${id}`] as const),
      fc
        .constantFrom('/webhooks', '/picked', '/omitted', '/uploads/by-digest', '/uploads/by-key')
        .map((path) => ['POST', path] as const),
      fc
        .constantFrom('POST', 'PUT', 'GET', 'HEAD', 'OPTIONS', 'PROPFIND', 'LINK')
        .map((method) => [method, '/any'] as const),
    ),
    query,
  )
  .map(([[method, path], text]) => [method, path + text] as const);

/** Anything that can stand in a request line, and what cannot. */
export const requestLines: fc.Arbitrary<readonly [method: string, target: string]> = fc.oneof(
  { weight: 15, arbitrary: routes },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.constantFrom('POST', 'post', 'CONNECT', 'TRACE', 'QUERY', 'PO ST', '', 'GET'),
      fc.constantFrom(
        '/things',
        '*',
        'http://fuzz.test/things',
        '//things',
        '/things/',
        '/THINGS',
        'things',
        '/things HTTP/1.0',
        '',
      ),
    ),
  },
);
