import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { describe, expect, it, jest } from '@jest/globals';
import { parse } from 'yaml';
import { isInstalled } from './program.js';
import { alerts, PROMETHEUS, read } from './written.js';

// Hours of rules are evaluated minute by minute.
jest.setTimeout(60_000);

const described = isInstalled('promtool', 'what fires the alerts and what does not') ? describe : describe.skip;

const TESTS = readdirSync(PROMETHEUS).filter((file) => file.endsWith('.test.yml'));

function promtool(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd: PROMETHEUS, encoding: 'utf8' });
  expect([status, status === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
}

interface Expectation {
  readonly alertname: string;
  readonly exp_alerts?: readonly unknown[];
}

const expectations = TESTS.flatMap(
  (file) => (parse(read(`observability/prometheus/${file}`)) as { tests: { alert_rule_test: Expectation[] }[] }).tests,
).map(({ alert_rule_test }) => alert_rule_test);

/** Alerts that are expected to fire, or not to, in a test of their own. */
const expectedTo = (fire: boolean): string[] => {
  const tests = expectations.filter((test) => test.some(({ exp_alerts = [] }) => exp_alerts.length > 0) === fire);
  return [...new Set(tests.flat().map(({ alertname }) => alertname))].sort();
};

describe('each alert', () => {
  const names = alerts.map(({ alert }) => alert).sort();

  it('is expected to fire on what should fire it', () => {
    expect(expectedTo(true)).toEqual(names);
  });

  it('is expected not to fire on the nearest that should not', () => {
    expect(expectedTo(false)).toEqual(names);
  });
});

described('promtool', () => {
  it('takes the configuration and its rules', () => {
    promtool('check', 'config', 'prometheus.yml');
  });

  it.each(TESTS)('finds that alerts fire as %s says', (file) => {
    promtool('test', 'rules', file);
  });
});
