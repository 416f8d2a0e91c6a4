import { spawnSync } from 'node:child_process';
import { parse } from 'node:path';

/** Runs a PostgreSQL program under an account to its end; `failure` is undefined, or what went wrong. */
export function runAs(account, program, args, { stdio = 'pipe' } = {}) {
  const result = spawnSync(program, args, {
    ...account,
    stdio,
    encoding: 'utf8',
    env: environment(),
    // The account may not be allowed to see the current folder, which PostgreSQL insists on.
    cwd: parse(program).root,
  });
  if (result.error) return { failure: result.error.message };
  if (result.status === 0) return {};
  return { failure: result.stderr?.trim() || `exit code ${result.status ?? result.signal}` };
}

/** Without the PG* variables, which change what PostgreSQL's programs do; messages in English. */
function environment() {
  const entries = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(entries), LC_ALL: 'C' };
}
