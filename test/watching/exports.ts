import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  MeterProvider,
  type MetricData,
  MetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

/** Collects when the test says so. */
class Reader extends MetricReader {
  protected override onForceFlush(): Promise<void> {
    return Promise.resolve();
  }

  protected override onShutdown(): Promise<void> {
    return Promise.resolve();
  }
}

type Labels = Readonly<Record<string, string>>;

/** One point of a metric: a number, or a histogram's count and sum. */
export interface Point {
  readonly labels: Labels;
  readonly value: number;
  readonly buckets?: readonly number[];
}

/** What an application exports that has registered an SDK; made before the application is. */
export class Exports {
  private readonly reader: Reader;
  private readonly exporter = new InMemorySpanExporter();
  private readonly meters: MeterProvider;
  private readonly tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.exporter)] });

  private constructor(temporality: AggregationTemporality) {
    this.reader = new Reader({ aggregationTemporalitySelector: () => temporality });
    this.meters = new MeterProvider({ readers: [this.reader] });
  }

  /** Under `DELTA` what is not observed is not exported: otherwise the SDK repeats the last value of a gauge. */
  static start(temporality = AggregationTemporality.CUMULATIVE): Exports {
    const made = new Exports(temporality);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    metrics.setGlobalMeterProvider(made.meters);
    trace.setGlobalTracerProvider(made.tracers);
    return made;
  }

  async stop(): Promise<void> {
    await this.meters.shutdown();
    await this.tracers.shutdown();
    context.disable();
    metrics.disable();
    trace.disable();
  }

  get spans(): readonly ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Forgets the spans so far. */
  clear(): void {
    this.exporter.reset();
  }

  /** Every metric that is exported now. */
  async collect(): Promise<MetricData[]> {
    const { resourceMetrics, errors } = await this.reader.collect();
    if (errors.length > 0) throw new AggregateError(errors);
    return resourceMetrics.scopeMetrics
      .filter(({ scope }) => scope.name === 'nestjs-idempotency')
      .flatMap((scope) => scope.metrics);
  }

  /** The points of one metric, and of those whose labels are these. */
  async points(name: string, labels: Labels = {}): Promise<Point[]> {
    const metric = (await this.collect()).find(({ descriptor }) => descriptor.name === name);
    const points = (metric?.dataPoints ?? []) as DataPoint<number | Histogram>[];
    return points
      .map(({ attributes, value }) => ({
        labels: attributes as Labels,
        ...(typeof value === 'number' ? { value } : { value: value.count, buckets: value.buckets.boundaries }),
      }))
      .filter((point) => Object.entries(labels).every(([label, value]) => point.labels[label] === value));
  }

  /** The sum of these points; undefined where there is none. */
  async value(name: string, labels: Labels = {}): Promise<number | undefined> {
    const points = await this.points(name, labels);
    return points.length === 0 ? undefined : points.reduce((sum, { value }) => sum + value, 0);
  }

  /** All that was exported, as one text. */
  async text(): Promise<string> {
    const spans = this.spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status }));
    return JSON.stringify([await this.collect(), spans]);
  }
}
