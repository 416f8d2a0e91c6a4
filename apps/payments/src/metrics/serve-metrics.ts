import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

/**
 * Serves `/metrics` to Prometheus on a port of its own, which keeps no process alive; the returned function ends that.
 * Call it before the app is made: who counts asks then where to.
 */
export async function serveMetrics(port: number): Promise<() => Promise<void>> {
  const exporter = new PrometheusExporter({ port, preventServerStart: true });
  await exporter.startServer();
  metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
  return () => exporter.shutdown();
}
