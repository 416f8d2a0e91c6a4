import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

import { diagramsIn, exchangesIn, FOLDER, INDEX, linksIn, pageNames, readPage, withExchanges } from './page.js';
import { faultsIn } from './sequence-diagram.js';
import { SITUATIONS } from './situations.js';

const PAGES = SITUATIONS.map(({ page }) => page);
const OPTIONS = readFileSync(join(FOLDER, '../../libs/idempotency/src/nest/options.ts'), 'utf8');

describe('the pages', () => {
  it('are one for each situation, and the index names each once, in order', () => {
    expect(pageNames().sort()).toEqual([...PAGES].sort());
    expect(rowsOfIndex().map(({ page }) => page)).toEqual(PAGES);
  });

  it('are called in the index what they are called themselves', () => {
    expect(rowsOfIndex().map(({ title }) => `# ${title}`)).toEqual(
      PAGES.map((page) => readPage(page).split('\n', 1)[0]),
    );
  });

  it('show every status that their diagrams and the index speak of', () => {
    const missing = rowsOfIndex().flatMap(({ page, sees }) => {
      const text = readPage(page);
      const drawn = [
        ...diagramsIn(text)
          .join('\n')
          .matchAll(/-->>C: (\d{3})\b/g),
      ].map(([, status]) => status!);
      const told = [...sees.matchAll(/\b\d{3}\b/g)].map(([status]) => status);
      const shown = [...exchangesIn(text).values()].join('\n');
      const unseen = [...drawn, ...told].filter((status) => !shown.includes(`\nHTTP/1.1 ${status} `));
      return unseen.map((status) => `${page}: ${status}`);
    });
    expect(missing).toEqual([]);
  });

  it('draw what happens, once', () => {
    for (const page of PAGES) {
      expect([page, ...diagramsIn(readPage(page)).map(faultsIn)]).toEqual([page, []]);
    }
  });

  it('say what goes over the wire, what changes it, and what a client does', () => {
    for (const page of PAGES) {
      const sections = [...readPage(page).matchAll(/^## (.*)$/gm)].map(([, title]) => title);
      expect([page, ...sections]).toEqual([page, 'On the wire', 'What changes it', 'What a client does']);
    }
  });

  it('name only options that there are', () => {
    const named = PAGES.flatMap((page) => [...readPage(page).matchAll(/^\| (`.*?) \| /gm)])
      .flatMap(([, cell]) => [...cell!.matchAll(/`(\w+)`/g)])
      .map(([, option]) => option!);
    expect(named.length).toBeGreaterThan(PAGES.length);
    expect(named.filter((option) => !OPTIONS.includes(`readonly ${option}?:`))).toEqual([]);
  });

  it('have links that lead somewhere', () => {
    for (const page of [INDEX, ...PAGES]) {
      expect([page, ...linksIn(readPage(page)).filter((link) => !existsSync(join(FOLDER, link)))]).toEqual([page]);
    }
  });
});

describe('an exchange of a page', () => {
  const block = (name: string, content: string) => `<!-- exchange: ${name} -->\n\`\`\`http\n${content}\`\`\`\n`;

  it('is found by its name, and replaced without touching anything else', () => {
    const page = `# One\n\n${block('first', 'old\n\nlines\n')}\n\`\`\`ts\ncode\n\`\`\`\n\n${block('second', '')}`;
    expect([...exchangesIn(page)]).toEqual([
      ['first', 'old\n\nlines'],
      ['second', ''],
    ]);
    const anew = withExchanges(page, new Map([['second', '$1 new']]));
    expect(anew).toBe(page.replace(block('second', ''), () => block('second', '$1 new\n')));
  });

  it.each([
    ['has no marker', '```http\nGET / HTTP/1.1\n```\n'],
    ['is no HTTP', '<!-- exchange: first -->\n```ts\ncode\n```\n'],
    ['shares its name', block('first', '') + block('first', '')],
  ])('is refused when it %s', (_, page) => {
    expect(() => exchangesIn(page)).toThrow();
  });
});

describe('a sequence diagram', () => {
  const CAST = ['C as Client', 'A as App', 'H as Handler', 'P as PostgreSQL'].map((who) => `participant ${who}`);
  const diagram = (...lines: string[]) => ['sequenceDiagram', ...CAST, ...lines].join('\n');

  it('may have messages, notes and blocks', () => {
    const lines = ['participant B as Another process', 'C->>A: one: two', 'Note over A,P: three<br/>four', 'alt five'];
    expect(faultsIn(diagram(...lines, 'A-xB: six', 'else seven', 'B-->>C: eight', 'end'))).toEqual([]);
  });

  it.each([
    ['nothing happens', []],
    ['someone is not declared', ['C->>X: hello']],
    ['a stranger takes part', ['participant X as Redis', 'C->>A: hello']],
    ['a message says nothing', ['C->>A:']],
    ['a text ends early', ['C->>A: hello; again']],
    ['a text holds a comment', ['C->>A: hello # again']],
    ['a text holds markup', ['C->>A: <key>']],
    ['an arrow is none', ['C=>A: hello']],
    ['a block is not ended', ['alt one', 'C->>A: hello']],
    ['nothing is ended', ['C->>A: hello', 'end']],
    ['a branch belongs to no block', ['loop one', 'C->>A: hello', 'else two', 'end']],
  ])('is faulty when %s', (_, lines) => {
    expect(faultsIn(diagram(...lines))).not.toEqual([]);
  });

  it('is faulty without its cast, in its order', () => {
    expect(faultsIn('sequenceDiagram\nparticipant A as App\nparticipant C as Client\nC->>A: hello')).not.toEqual([]);
    expect(faultsIn('graph TD\nA-->B')).not.toEqual([]);
  });
});

interface IndexRow {
  readonly title: string;
  readonly page: string;
  readonly sees: string;
}

function rowsOfIndex(): IndexRow[] {
  const rows = readPage(INDEX).matchAll(/^\| .* \| (?<sees>.*) \| \[(?<title>.*)\]\((?<page>[\w-]+)\.md\) \|$/gm);
  return [...rows].map(({ groups }) => groups as unknown as IndexRow);
}
