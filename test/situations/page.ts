import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const FOLDER = join(import.meta.dirname, '../../docs/situations');
export const INDEX = 'README';

const FENCED = /^(?<marker><!-- exchange: (?<name>[\w-]+) -->\n)?```(?<language>\w*)\n(?<content>[\s\S]*?)^```$/gm;

interface Block {
  /** The name of an exchange, where a marker stands before the block. */
  readonly name: string | undefined;
  readonly language: string;
  readonly content: string;
}

/** The names of all pages but the index. */
export function pageNames(): string[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.md'));
  return files.map((file) => file.slice(0, -'.md'.length)).filter((name) => name !== INDEX);
}

export function readPage(name: string): string {
  return readFileSync(join(FOLDER, `${name}.md`), 'utf8');
}

export function writePage(name: string, text: string): void {
  writeFileSync(join(FOLDER, `${name}.md`), text);
}

/** The diagrams of a page. */
export function diagramsIn(text: string): string[] {
  return blocksIn(text)
    .filter(({ language }) => language === 'mermaid')
    .map(({ content }) => content);
}

/**
 * The exchanges of a page by their names, in the order they stand there.
 *
 * @throws {Error} where one has no marker, or no name of its own.
 */
export function exchangesIn(text: string): Map<string, string> {
  const exchanges = new Map<string, string>();
  for (const { name, language, content } of blocksIn(text)) {
    if (language !== 'http' && name === undefined) continue;
    if (language !== 'http') throw new Error(`'${name}' is no exchange.`);
    if (name === undefined) throw new Error(`An exchange has no marker: ${content}`);
    if (exchanges.has(name)) throw new Error(`Two exchanges are called '${name}'.`);
    exchanges.set(name, content.replace(/\n$/, ''));
  }
  return exchanges;
}

/** The page with these exchanges in the blocks of their names. */
export function withExchanges(text: string, exchanges: ReadonlyMap<string, string>): string {
  return text.replace(FENCED, (block, ...rest) => {
    const { marker, name } = rest.at(-1) as { marker?: string; name?: string };
    const exchange = name === undefined ? undefined : exchanges.get(name);
    return exchange === undefined ? block : `${marker}\`\`\`http\n${exchange}\n\`\`\``;
  });
}

/** Where the links of a page lead that stay in the project. */
export function linksIn(text: string): string[] {
  return [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => link!);
}

function blocksIn(text: string): Block[] {
  return [...text.matchAll(FENCED)].map(({ groups }) => ({
    name: groups!.name,
    language: groups!.language!,
    content: groups!.content!,
  }));
}
