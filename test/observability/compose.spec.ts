import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { dashboard, read } from './written.js';

const ROOT = join(import.meta.dirname, '../..');

interface Service {
  readonly image: string;
  readonly profiles?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports: readonly string[];
  readonly volumes?: readonly string[];
  readonly healthcheck: object;
}

const { services } = parse(read('docker-compose.yml')) as { services: Record<string, Service> };

const observing = Object.entries(services).filter(([, { profiles }]) => profiles?.includes('observability'));

/** Where a file of ours is found inside a container. */
function mounted(service: string, inside: string): string {
  for (const volume of services[service]!.volumes!) {
    const [ours, theirs] = volume.split(':') as [string, string];
    if (inside.startsWith(`${theirs}/`)) return join(ours, inside.slice(theirs.length));
  }
  throw new Error(`${inside} is not mounted.`);
}

describe('the profile `observability`', () => {
  it('is Prometheus and Grafana, in versions that stay, for this machine only', () => {
    expect(observing.map(([name]) => name)).toEqual(['prometheus', 'grafana']);
    for (const [, { image, ports, healthcheck }] of observing) {
      expect(image).toMatch(/:v?\d+\.\d+\.\d+$/);
      expect(ports).toEqual([expect.stringMatching(/^127\.0\.0\.1:\$\{\w+:-\d+\}:\d+$/)]);
      expect(healthcheck).toBeDefined();
    }
  });

  it('mounts what is there, and nothing that could be written to', () => {
    for (const [, { volumes = [] }] of observing) {
      expect(volumes.length).toBeGreaterThan(0);
      for (const volume of volumes) {
        expect(volume).toMatch(/^\.\/observability\/[\w/]+:[\w/-]+:ro$/);
        expect(existsSync(join(ROOT, volume.split(':')[0]!))).toBe(true);
      }
    }
  });

  it('gives Prometheus its configuration and the rules that this names', () => {
    const config = mounted('prometheus', '/etc/prometheus/prometheus.yml');
    const { rule_files } = parse(read(config)) as { rule_files: string[] };
    expect(rule_files).toEqual(['alerts.yml']);
    expect(existsSync(join(ROOT, mounted('prometheus', `/etc/prometheus/${rule_files[0]}`)))).toBe(true);
  });

  it('gives Grafana the dashboard, shown first, and Prometheus to ask', () => {
    const provisioning = '/etc/grafana/provisioning';
    const { providers } = parse(read(mounted('grafana', `${provisioning}/dashboards/idempotency.yml`)));
    const home = services['grafana']!.environment!['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH']!;
    expect(home).toBe(`${providers[0].options.path}/idempotency.json`);
    expect(JSON.parse(read(mounted('grafana', home)))).toEqual(dashboard);
    const { datasources } = parse(read(mounted('grafana', `${provisioning}/datasources/prometheus.yml`)));
    const { scrape_interval } = parse(read(mounted('prometheus', '/etc/prometheus/prometheus.yml'))).global;
    expect(datasources).toEqual([
      expect.objectContaining({ url: 'http://prometheus:9090', jsonData: { timeInterval: scrape_interval } }),
    ]);
  });
});

const hasCompose = spawnSync('docker', ['compose', 'version']).status === 0;
if (!hasCompose)
  process.stderr.write('Left out: whether docker compose takes its file. There is no docker compose here.\n');

(hasCompose ? it : it.skip)('is taken by docker compose', () => {
  const { status, stderr } = spawnSync('docker', ['compose', '--profile', 'observability', 'config', '--quiet'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect([status, stderr]).toEqual([0, '']);
});
