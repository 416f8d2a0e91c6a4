import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';

const HERE = dirname(fileURLToPath(import.meta.url));
const ROOT = join(HERE, '../..');

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Every `test/….spec.ts` that a page names, with the title that follows it, if one does. */
function testsNamedIn(page: string): [file: string, title: string][] {
  return [...read(page).matchAll(/(test\/[\w/.-]+\.spec\.ts)(?:`: ([^|\n]*[^|\n ]))?/g)].map(([, file, title]) => [
    file!,
    title ?? '',
  ]);
}

/** Words only: titles are written with placeholders and quotes in code. */
const words = (text: string) => text.replace(/\\(.)/g, '$1').replace(/\s+/g, ' ');

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'observability/README.md', 'apps/payments/README.md'],
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith('.md') ? [`docs/${name}`] : [],
  ),
];

describe('the documentation', () => {
  it.each(
    [
      'README.md',
      'docs/guarantees.md',
      'docs/messages.md',
      'docs/outside-calls.md',
      'docs/joining-transactions.md',
      'docs/operations/surroundings.md',
      'docs/operations/upgrading.md',
    ].flatMap(testsNamedIn),
  )('names a test that exists: %s: %s', (file, title) => {
    expect(existsSync(join(ROOT, file))).toBe(true);
    expect(words(read(file))).toContain(words(title));
  });

  it('finds the tests it looks for', () => {
    expect(testsNamedIn('docs/guarantees.md').filter(([, title]) => title !== '').length).toBeGreaterThan(30);
  });

  it('has links that lead somewhere', () => {
    for (const page of PAGES) {
      const links = [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => join(dirname(page), link!));
      expect(links.filter((link) => !existsSync(join(ROOT, link)))).toEqual([]);
    }
  });
});

describe('the examples', () => {
  const examplesOf = (page: string): string[] =>
    [...read(page).matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);

  it.each([
    ['README.md', 3],
    ['docs/messages.md', 6],
    ['docs/outside-calls.md', 9],
    ['docs/joining-transactions.md', 3],
    ['docs/operations/upgrading.md', 1],
    ['docs/operations/watching.md', 3],
  ])('of %s compile as they stand', (page, least) => {
    const examples = examplesOf(page);
    expect(examples.length).toBeGreaterThanOrEqual(least);
    const virtual = new Map(examples.map((code, at) => [join(HERE, `example-${at}.ts`), code]));
    expect(problemsIn(virtual)).toEqual([]);
  });

  it('show browsers the code that the tests run in one', () => {
    expect(read('README.md')).toContain(`\`\`\`js\n${read('test/browsers/post-once.js').trimEnd()}\n\`\`\``);
  });

  it('would be found out if they did not', () => {
    const wrong = new Map([
      [join(HERE, 'example-wrong.ts'), "import { Idempotent } from 'nestjs-idempotency';\nIdempotent({ lease: 5 });\n"],
    ]);
    expect(problemsIn(wrong)).toHaveLength(1);
  });
});

function problemsIn(virtual: ReadonlyMap<string, string>): string[] {
  const config = ts.readConfigFile(join(ROOT, 'tsconfig.json'), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT);
  const host = ts.createCompilerHost(options);
  const readFromDisk = host.readFile.bind(host);
  const existsOnDisk = host.fileExists.bind(host);
  host.readFile = (file) => virtual.get(file) ?? readFromDisk(file);
  host.fileExists = (file) => virtual.has(file) || existsOnDisk(file);
  const program = ts.createProgram([...virtual.keys()], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file && virtual.has(file.fileName))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}
