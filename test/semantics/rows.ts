import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The first cells of every table in one section of docs/semantics.md, in their order. */
export function rowsOf(section: string): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/semantics.md'), 'utf8');
  const [text] = page.split(`\n## ${section}\n`)[1]?.split('\n## ') ?? [];
  return cellsIn(text ?? '');
}

/** The names of the sections that have tables. */
export function sectionsWithRows(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../docs/semantics.md'), 'utf8');
  const sections = page.split('\n## ').slice(1);
  return sections.filter((text) => cellsIn(text).length > 0).map((text) => text.split('\n', 1)[0]!);
}

/** Rows stand below the line of dashes; a `|` inside a cell is written `\|`. */
function cellsIn(text: string): string[] {
  const cells: string[] = [];
  let isBody = false;
  for (const line of text.split('\n')) {
    if (!line.startsWith('|')) isBody = false;
    else if (/^\|[-|: ]+\|$/.test(line)) isBody = true;
    else if (isBody) cells.push(line.split(/(?<!\\)\|/)[1]!.trim());
  }
  return cells;
}
