import { Command, Option } from 'commander';

import type { Operation } from '../core/operation.js';
import { SWEEP_BATCH } from '../maintenance/sweeper.js';
import { RECORD_STATES } from '../storage/repair-statements.js';
import { countArgument, durationArgument, hashArgument, jsonArgument } from './arguments.js';
import { type ChangeOptions } from './commands/change.js';
import { expire } from './commands/expire.js';
import { list, type ListOptions } from './commands/list.js';
import { release, type ReleaseOptions } from './commands/release.js';
import { resolve, type ResolveOptions } from './commands/resolve.js';
import { checkSchema, printSchema, type SchemaOptions } from './commands/schema.js';
import { show, type ShowOptions } from './commands/show.js';
import { sweep, type SweepOptions } from './commands/sweep.js';
import { withoutPasswords } from './output.js';

const ABOUT = `Looks at the operations of nestjs-idempotency, and repairs them.

Every change shows the record first, asks, and is made only if the record is still what was shown.
What is in progress under \`claim: 'transaction'\` has no record before it commits, and is not seen here.`;

const AFTER = `
Exit codes: 0 done; 1 refused, not found, or the record moved on; 2 asked for wrongly; 3 the database is away or
cannot serve; 130 interrupted. With --json the answer is one JSON document on stdout; messages go to stderr.

In front of a key that begins with a dash, say -- after all options: show acme payments -- -key

A URL on the command line can be seen by others on the machine: prefer DATABASE_URL.`;

/** The command line, as it is typed. */
export function programOf(version: string): Command {
  const program = new Command('nestjs-idempotency')
    .description(ABOUT)
    .version(version)
    .option('--url <url>', 'the PostgreSQL database; default DATABASE_URL, or the PG… variables of libpq')
    .option('--schema <name>', 'the schema of the tables')
    .option('--prefix <prefix>', "the data source's `entityPrefix`")
    .addOption(new Option('--naming <strategy>', 'its naming strategy').choices(['default', 'snake']))
    .option('--data-source <file>', 'a JavaScript file that exports the TypeORM DataSource, in place of all these')
    .addOption(timeoutOption())
    .option('--json', 'answer with one JSON document')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeErr: (text) => process.stderr.write(withoutPasswords(text)) })
    .exitOverride()
    .addHelpText('after', AFTER);
  addLooks(program);
  addChanges(program);
  addSchema(program);
  return program;
}

function addLooks(program: Command): void {
  command(program, 'list', 'list operations', 'list --state unknown --older-than 10m')
    .addOption(new Option('--state <state>', 'those in this state; abandoned takes in unknown').choices(RECORD_STATES))
    .option('--older-than <duration>', 'those that have been in their state for longer, such as 10m', durationArgument)
    .option('--tenant <tenant>', "those of one tenant ('' with `singleTenant`)")
    .option('--endpoint <endpoint>', 'those of one endpoint')
    .option(
      '--hash <hash>',
      'the one that a log line names; looks at every record, for as long as --timeout',
      hashArgument,
    )
    .option('--limit <count>', 'how many', countArgument, 50)
    .addOption(new Option('--order <order>', 'which come first').choices(['newest', 'oldest']).default('newest'))
    .option('--hash-keys', 'show the hash of each operation in place of its key')
    .action((_, self: Command) => list(self.optsWithGlobals<ListOptions>()));

  onOperation(program, 'show', 'show one operation', `show acme 'POST /payments' order-1`)
    .option('--body', 'with the recorded body')
    .option('--results', 'with the results of its steps')
    .action((...given) => show(operationIn(given), optionsIn<ShowOptions>(given)));
}

function addChanges(program: Command): void {
  changing(
    onOperation(
      program,
      'release',
      'make a claim that is stuck claimable at once',
      `release acme 'POST /payments' order-1`,
    ),
  )
    .option('--force', 'also under a live lease: the worker, if it lives, loses at its recording and is rolled back')
    .action((...given) => release(operationIn(given), optionsIn<ReleaseOptions>(given)));

  changing(
    onOperation(
      program,
      'expire',
      'end the retention of a recording now: the next request with its key is a NEW operation, and runs',
      `expire acme 'POST /payments' order-1`,
    ),
  ).action((...given) => expire(operationIn(given), optionsIn<ChangeOptions>(given)));

  changing(
    onOperation(
      program,
      'resolve',
      'put on record what became of a step of which nobody knows',
      `resolve acme 'POST /payments' order-1 charge --happened '{"id":"ch_1"}'`,
    ).argument('<step>'),
  )
    .option('--happened <json>', 'it happened, and this is what the step is to return', jsonArgument)
    .option('--refused <message>', 'the provider refused it')
    .option('--did-not-happen', 'it did not happen: the next attempt makes the call again')
    .action((...given) => resolve(operationIn(given), String(given[3]), optionsIn<ResolveOptions>(given)));

  command(program, 'sweep', 'clear away every record past its retention; asks nothing, for cron', 'sweep --batch 1000')
    .option('--batch <count>', 'how many are cleared in one transaction', countArgument, SWEEP_BATCH)
    .action((_, self: Command) => sweep(self.optsWithGlobals<SweepOptions>()));
}

function addSchema(program: Command): void {
  const schema = program.command('schema').description('the tables of the library');
  command(
    schema,
    'print',
    'print the SQL that makes the tables; needs no database',
    'schema print --prefix app_',
  ).action((_, self: Command) => printSchema(self.optsWithGlobals<SchemaOptions>()));
  command(schema, 'check', 'find out whether the tables can serve this version', 'schema check').action(
    (_, self: Command) => checkSchema(self.optsWithGlobals<SchemaOptions>()),
  );
}

function command(parent: Command, name: string, description: string, example: string): Command {
  return parent
    .command(name)
    .description(description)
    .addHelpText('after', `\nExample:\n  $ npx nestjs-idempotency ${example}`);
}

function onOperation(program: Command, name: string, description: string, example: string): Command {
  return command(program, name, description, example)
    .argument('<tenant>', "'' with `singleTenant`")
    .argument('<endpoint>')
    .argument('<key>');
}

function changing(command: Command): Command {
  return command.option('--yes', 'do not ask');
}

function timeoutOption(): Option {
  return new Option('--timeout <duration>', 'how long one look may take')
    .argParser(durationArgument)
    .default(durationArgument('30s'), '30s');
}

/** The first three arguments of a command on one operation. */
function operationIn([tenant, endpoint, key]: readonly unknown[]): Operation {
  return { tenant: String(tenant), endpoint: String(endpoint), key: String(key) };
}

/** Of a command, which comes last of what its action is given. */
function optionsIn<Options>(given: readonly unknown[]): Options {
  return (given.at(-1) as Command).optsWithGlobals() as Options;
}
