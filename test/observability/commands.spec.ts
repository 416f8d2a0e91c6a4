import { describe, expect, it } from '@jest/globals';
import { programOf } from '../../libs/idempotency/src/cli/program.js';
import { codeIn, index, pages } from './written.js';

const NAME = 'npx nestjs-idempotency ';

const lines = [...pages, index].flatMap((page) =>
  codeIn(page, 'sh')
    .flatMap((code) => code.split('\n'))
    .filter((line) => line.startsWith(NAME))
    .map((line) => ({ page, line })),
);

/** The words of a line as a shell makes them: single quotes keep them together. */
const wordsIn = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!);

/** The name of the command that a line calls. Throws where the command line does not understand it. */
function commandCalledBy(line: string): string | undefined {
  let called: string | undefined;
  const program = programOf('0.0.0');
  const listen = (command: typeof program): void => {
    command.exitOverride().configureOutput({ writeErr: () => undefined });
    if (command.commands.length > 0) command.commands.forEach(listen);
    else command.action(() => void (called = command.name()));
  };
  listen(program);
  program.parse(wordsIn(line.slice(NAME.length)), { from: 'user' });
  return called;
}

describe('the commands of the pages', () => {
  it('are found', () => {
    expect(lines.length).toBeGreaterThan(8);
  });

  it.each(lines)('of $page are understood: $line', ({ line }) => {
    expect(line).toContain(` ${commandCalledBy(line)}`);
  });

  it('would be found out if they were not', () => {
    expect(() => commandCalledBy(`${NAME}list --state lost`)).toThrow();
    expect(() => commandCalledBy(`${NAME}forget <tenant>`)).toThrow();
  });
});
