import { spawnSync } from 'node:child_process';
import { writeSync } from 'node:fs';

/** Whether a program of Prometheus is installed here; where it is not, says what is left out for the lack of it. */
export function isInstalled(program: 'prometheus' | 'promtool', leftOut: string): boolean {
  const isThere = spawnSync(program, ['--version']).status === 0;
  if (!isThere)
    writeSync(2, `Left out: ${leftOut}. There is no ${program} here; Debian's package is called prometheus.\n`);
  return isThere;
}
