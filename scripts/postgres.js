import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { script } from './foreground/script.js';
import { installMissing } from './workspace/install.js';

const USAGE = `Usage: node scripts/postgres.js [--throwaway] <folder>

Runs the embedded PostgreSQL on the cluster in <folder>, prints its URL, and stops it on Ctrl-C.
\`npm start\` keeps its cluster in .local/postgres, \`npm test\` in .local/postgres-test.

  --throwaway  faster; the cluster may be lost when the machine crashes
`;

await script(async (interruption) => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, throwaway: { type: 'boolean', default: false } },
  });
  if (values.help || positionals.length !== 1) {
    console.log(USAGE);
    return values.help ? 0 : 2;
  }
  await installMissing(interruption);
  const { startPostgres } = await import('./embedded-postgres/server.js');
  const postgres = await startPostgres({ folder: resolve(positionals[0]), durable: !values.throwaway });
  console.log(`${postgres.url} (data in ${postgres.folder})`);
  if (!interruption.aborted) await once(interruption, 'abort');
  await postgres.stop();
  return 0;
});
