import 'reflect-metadata';

import { createRequire } from 'node:module';

import { CommanderError } from 'commander';

import { EXIT, failureOf } from './failure.js';
import { tell } from './output.js';
import { programOf } from './program.js';

const { version } = createRequire(import.meta.url)('nestjs-idempotency/package.json') as { version: string };

/** Runs what was typed; resolves to the code to exit with. */
async function run(args: readonly string[]): Promise<number> {
  try {
    await programOf(version).parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? EXIT.done);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    const { exitCode, message, reason } = failureOf(error);
    if (reason !== undefined && args.includes('--json')) console.log(JSON.stringify({ refused: reason }, null, 2));
    tell(message);
    return exitCode;
  }
}

// Whoever reads it may have read enough, as `head` does.
process.stdout.on('error', () => process.exit(EXIT.done));

void run(process.argv.slice(2)).then((exitCode) => {
  // A file given by --data-source may have left something running.
  process.stdout.write('', () => process.exit(exitCode));
});
