import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');

/** What Prometheus is given, as compose mounts it. */
export const PROMETHEUS = join(ROOT, 'observability/prometheus');

const PAGES = 'docs/operations/alerts';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly Target[];
}

export interface Dashboard {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

/** One query, and where it is written. */
export interface Query {
  readonly where: string;
  readonly expr: string;
}

export const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export const alerts: readonly Alert[] = (
  parse(read('observability/prometheus/alerts.yml')) as { groups: { rules: Alert[] }[] }
).groups.flatMap(({ rules }) => rules);

export const dashboard = JSON.parse(read('observability/grafana/dashboards/idempotency.json')) as Dashboard;

/** The pages about alerts, the index left out. */
export const pages: readonly string[] = readdirSync(join(ROOT, PAGES))
  .filter((name) => name !== 'README.md')
  .map((name) => `${PAGES}/${name}`);

export const index = `${PAGES}/README.md`;

/** What stands in a page as code of this language. */
export const codeIn = (page: string, language: string): string[] =>
  [...read(page).matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'g'))].map(([, code]) => code!.trim());

/** What the dashboard's variables stand for when everything is shown. */
const EVERYTHING: readonly (readonly [string, string])[] = [
  ['$__rate_interval', '1m'],
  ['$__range', '1h'],
  ['$job', '.*'],
  ['$endpoint', '.*'],
];

/** Every query of a panel, as Grafana asks it. */
export const queriesOf = ({ title, targets = [] }: Panel): Query[] =>
  targets.map(({ refId, expr }) => ({
    where: `${title}, ${refId}`,
    expr: EVERYTHING.reduce((text, [variable, value]) => text.replaceAll(variable, value), expr),
  }));

/** Every query there is: of alerts, panels and pages. */
export const queries: readonly Query[] = [
  ...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
  ...dashboard.panels.flatMap(queriesOf),
  ...[...pages, index].flatMap((page) => codeIn(page, 'promql').map((expr) => ({ where: page, expr }))),
];
