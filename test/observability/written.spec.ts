import { describe, expect, it } from '@jest/globals';
import { OUTCOMES } from '../../libs/idempotency/src/core/outcome.js';
import { ATTRIBUTES, type Metric, METRICS } from '../../libs/idempotency/src/telemetry/metrics.js';
import { alerts, codeIn, dashboard, index, pages, type Panel, queries, read } from './written.js';

const spelled = (name: string): string => name.replaceAll('.', '_');

/** What Prometheus calls the series of a metric, by the rules of OpenTelemetry. */
function seriesOf({ name, kind, unit }: Metric): string[] {
  const base = spelled(name) + (unit === 's' ? '_seconds' : '');
  switch (kind) {
    case 'counter':
      return [`${base}_total`];
    case 'histogram':
      return [`${base}_bucket`, `${base}_sum`, `${base}_count`];
    default:
      return [base];
  }
}

/** The labels that each series can have, but for those of Prometheus' own. */
const LABELS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values<Metric>(METRICS).flatMap((metric) =>
    seriesOf(metric).map((series) => [series, metric.attributes.map((name) => spelled(ATTRIBUTES[name]))] as const),
  ),
);

/** Of Prometheus itself. */
const FOREIGN_LABELS = ['job', 'instance', 'le'];

const ALL_LABELS: readonly string[] = Object.values(ATTRIBUTES).map(spelled);

describe('every query', () => {
  it.each(queries)('of $where names what the library declares', ({ expr }) => {
    const names = [...expr.matchAll(/\bidempotency_\w+/g)].map(([name]) => name);
    expect(names.filter((name) => !LABELS.has(name) && !ALL_LABELS.includes(name))).toEqual([]);
  });

  it.each(queries)('of $where selects by labels that its series have', ({ expr }) => {
    for (const [, series, selector] of expr.matchAll(/\b(idempotency_\w+)\{([^}]*)\}/g)) {
      const labels = [...selector!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label]) => label!);
      expect([...FOREIGN_LABELS, ...LABELS.get(series!)!]).toEqual(expect.arrayContaining(labels));
    }
  });

  it.each(queries)('of $where selects outcomes that there are', ({ expr }) => {
    const outcomes = [...expr.matchAll(/idempotency_outcome=~?"([^"]*)"/g)].flatMap(([, value]) => value!.split('|'));
    expect(OUTCOMES).toEqual(expect.arrayContaining(outcomes));
  });

  it('is found', () => {
    expect(queries.length).toBeGreaterThan(50);
  });
});

describe('the dashboard', () => {
  const { panels, templating } = dashboard;

  it('shows every metric there is', () => {
    const text = JSON.stringify(panels);
    const shown = Object.values<Metric>(METRICS).filter((metric) =>
      seriesOf(metric).some((series) => new RegExp(`\\b${series}\\b`).test(text)),
    );
    expect(shown).toEqual(Object.values(METRICS));
  });

  it('knows its panels by one id and one title each', () => {
    for (const name of ['id', 'title'] as const) {
      expect(new Set(panels.map((panel) => panel[name])).size).toBe(panels.length);
    }
  });

  it.each(panels.filter(({ type }) => type !== 'row'))('says what to think of $title', ({ description, targets }) => {
    expect(description).toMatch(/^[A-Z][^]{40,}\.$/);
    expect(targets!.length).toBeGreaterThan(0);
  });

  it('names a page where it points at one', () => {
    const named = panels.flatMap(({ description = '' }) => [...description.matchAll(/\bpage ([\w-]+)\.$/g)]);
    expect(named.length).toBeGreaterThan(5);
    for (const [, name] of named) expect(pages).toContain(`docs/operations/alerts/${name}.md`);
  });

  it('has its data source and services chosen by whoever looks', () => {
    const variables = templating.list.map(({ name }) => name);
    expect(variables).toEqual(['datasource', 'job', 'endpoint']);
    for (const source of JSON.stringify(panels).matchAll(/"uid":"([^"]*)"/g)) expect(source[1]).toBe('${datasource}');
    for (const [, variable] of JSON.stringify(panels).matchAll(/\$([a-z]\w*)/g)) expect(variables).toContain(variable);
  });

  it('lays its panels side by side', () => {
    for (const [at, one] of panels.entries()) {
      expect(one.gridPos.x + one.gridPos.w).toBeLessThanOrEqual(24);
      expect(panels.slice(at + 1).filter((other) => overlap(one, other))).toEqual([]);
    }
  });
});

function overlap({ gridPos: one }: Panel, { gridPos: other }: Panel): boolean {
  const beside = one.x + one.w <= other.x || other.x + other.w <= one.x;
  const below = one.y + one.h <= other.y || other.y + other.h <= one.y;
  return !beside && !below;
}

/** `IdempotencyStoreUnavailable` has the page `store-unavailable`. */
const pageOf = (alert: string): string =>
  `docs/operations/alerts/${alert
    .replace(/^Idempotency/, '')
    .replace(/(?<!^)[A-Z]/g, '-$&')
    .toLowerCase()}.md`;

describe('the alerts', () => {
  it('have a page each, and every page has an alert', () => {
    expect(alerts.map(({ alert }) => pageOf(alert)).sort()).toEqual([...pages].sort());
  });

  it.each(alerts)(
    '$alert says what is wrong, how bad it is, and where its page is',
    ({ alert, labels, annotations }) => {
      expect(labels).toEqual({ severity: expect.stringMatching(/^(critical|warning)$/) });
      expect(Object.keys(annotations)).toEqual(['summary', 'description', 'runbook']);
      expect(annotations['runbook']).toBe(pageOf(alert));
    },
  );

  it.each(alerts)('$alert stands in the index with its severity', ({ alert, labels }) => {
    const link = pageOf(alert).split('/').at(-1)!;
    expect(read(index)).toContain(`| [${alert}](${link}) | ${labels['severity']} |`);
  });

  it.each(alerts)('$alert has a page that says what to look at, what to do, and when it is over', (rule) => {
    const page = pageOf(rule.alert);
    const text = read(page);
    expect(text).toMatch(new RegExp(`^# [A-Z][^\\n]+\\n\\n\`${rule.alert}\`, ${rule.labels['severity']}: `));
    expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
      'Who is hurt',
      'Look first',
      'Do',
      'Over when',
    ]);
    expect(codeIn(page, 'promql').length).toBeGreaterThan(0);
  });
});
