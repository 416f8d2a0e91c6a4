import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

import type { OutcomeEvent } from 'nestjs-idempotency';
import { OUTCOMES } from '../../libs/idempotency/src/core/outcome.js';
import { type Metric, METRICS } from '../../libs/idempotency/src/telemetry/metrics.js';
import { VERSION } from '../../libs/idempotency/src/telemetry/version.js';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const page = read('docs/operations/watching.md');

/** The rows of the table that follows this line, a list of cells each. */
function tableAfter(head: string): string[][] {
  const lines = page.slice(page.indexOf(`| ${head} |`)).split('\n');
  const end = lines.findIndex((line) => !line.startsWith('|'));
  return lines.slice(2, end).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const names = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);

const MEMBERS: { readonly [Name in keyof Required<OutcomeEvent>]: true } = {
  channel: true,
  endpoint: true,
  outcome: true,
  error: true,
  tenant: true,
  keyHash: true,
  attempts: true,
  claimMs: true,
  workMs: true,
};

describe('the page about watching', () => {
  it('has every metric as it is declared', () => {
    const declared = Object.values<Metric>(METRICS).map(({ name, kind, unit, attributes, description }) => [
      `\`${name}\``,
      kind,
      `\`${unit}\``,
      attributes.join(', '),
      description,
    ]);
    expect(tableAfter('Metric')).toEqual(declared);
  });

  it('has every outcome, and every member of an event', () => {
    expect(tableAfter('Outcome').flatMap(([cell]) => names(cell!))).toEqual([...OUTCOMES]);
    expect(tableAfter('Member').flatMap(([cell]) => names(cell!))).toEqual(Object.keys(MEMBERS));
  });
});

describe('meter and tracer', () => {
  it('are of the version that the package has', () => {
    expect(VERSION).toBe((JSON.parse(read('libs/idempotency/package.json')) as { version: string }).version);
  });
});
