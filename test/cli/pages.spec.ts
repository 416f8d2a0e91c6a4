import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

import { programOf } from '../../libs/idempotency/src/cli/program.js';

const DOCS = join(import.meta.dirname, '../../docs');

/** Every command that a page shows, from its name to the end of the code it stands in. */
function commandsIn(page: string): string[] {
  const text = readFileSync(join(DOCS, page), 'utf8');
  return [...text.matchAll(/npx nestjs-idempotency ([a-z][^`\n]*)/g)].map(([, command]) => command!.trim());
}

const commands = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap(commandsIn);

describe('the pages', () => {
  it('show commands', () => {
    expect(commands.length).toBeGreaterThan(10);
  });

  it.each([...new Set(commands)])('show a command that there is: %s', (shown) => {
    const words = shown.split(/[ |>]+/);
    let command = programOf('0.0.0');
    for (let next; (next = command.commands.find((one) => one.name() === words[0])); command = next) words.shift();
    expect(command.parent).not.toBeNull();
    const known = [...command.options, ...command.parent!.options, ...(command.parent!.parent?.options ?? [])];
    const flags = words.filter((word) => /^--\w/.test(word));
    expect(flags.filter((flag) => !known.some(({ long }) => long === flag))).toEqual([]);
  });
});
