import {
  context,
  type Counter,
  type Histogram,
  type Meter,
  metrics,
  type ObservableResult,
  trace,
  type UpDownCounter,
} from '@opentelemetry/api';

import type { Observation, Observer, Part } from '../core/observation.js';
import type { RecordSweep } from '../core/ports.js';
import { EndpointLabels } from './endpoint-labels.js';
import { ATTRIBUTES, CLAIM_BUCKETS_S, type Metric, METRICS, WORK_BUCKETS_S } from './metrics.js';
import { Traces } from './traces.js';
import { VERSION } from './version.js';

/** What meter and tracer are called. */
export const SCOPE = 'nestjs-idempotency';

/**
 * Tells OpenTelemetry what attempts do: by the SDK that the application has registered before it is made, or nobody.
 */
export class Telemetry implements Observer {
  readonly meter: Meter = metrics.getMeter(SCOPE, VERSION);
  private readonly traces = new Traces(trace.getTracer(SCOPE, VERSION));
  private readonly labels = new EndpointLabels();
  private readonly outcomes: Counter;
  private readonly claimDuration: Histogram;
  private readonly workDuration: Histogram;
  private readonly claimsLost: Counter;
  private readonly active: UpDownCounter;
  private readonly swept: Counter;
  /** Those that hold an operation, the first that claimed it first, and since when. */
  private readonly holding = new Map<Observation, number>();

  /** `onEnded` is told last of what each attempt came to. */
  constructor(private readonly onEnded?: (observation: Observation) => void) {
    const { meter } = this;
    this.outcomes = meter.createCounter(METRICS.outcomes.name, terms(METRICS.outcomes));
    this.claimDuration = meter.createHistogram(METRICS.claimDuration.name, {
      ...terms(METRICS.claimDuration),
      advice: { explicitBucketBoundaries: CLAIM_BUCKETS_S },
    });
    this.workDuration = meter.createHistogram(METRICS.workDuration.name, {
      ...terms(METRICS.workDuration),
      advice: { explicitBucketBoundaries: WORK_BUCKETS_S },
    });
    this.claimsLost = meter.createCounter(METRICS.claimsLost.name, terms(METRICS.claimsLost));
    this.active = meter.createUpDownCounter(METRICS.active.name, terms(METRICS.active));
    this.swept = meter.createCounter(METRICS.swept.name, terms(METRICS.swept));
  }

  here(): unknown {
    return context.active();
  }

  trace<Result>(part: Part, observation: Observation, run: () => Promise<Result>): Promise<Result> {
    return this.traces.run(part, observation, run);
  }

  claimed(observation: Observation): void {
    this.holding.set(observation, performance.now());
    this.active.add(1, this.endpointOf(observation));
  }

  lost(observation: Observation): void {
    this.claimsLost.add(1, this.endpointOf(observation));
  }

  ended(observation: Observation): void {
    const { channel, claimMs, workMs, ending } = observation;
    const endpoint = this.endpointOf(observation);
    if (this.holding.delete(observation)) this.active.add(-1, endpoint);
    const attributes = { ...endpoint, [ATTRIBUTES.outcome]: ending!.outcome };
    this.outcomes.add(1, { ...attributes, [ATTRIBUTES.channel]: channel });
    if (claimMs !== undefined) this.claimDuration.record(claimMs / 1000, attributes);
    if (workMs !== undefined) this.workDuration.record(workMs / 1000, attributes);
    this.onEnded?.(observation);
  }

  /** The same sweep, which is counted. */
  counting(sweep: RecordSweep): RecordSweep {
    return {
      sweep: async (batch, from) => {
        const swept = await sweep.sweep(batch, from);
        if (swept.count > 0) this.swept.add(swept.count);
        return swept;
      },
      beyond: (from) => sweep.beyond(from),
    };
  }

  /** In seconds; 0 where nothing is held. */
  readonly observeOldestAge = (result: ObservableResult): void => {
    const [since] = this.holding.values();
    result.observe(since === undefined ? 0 : (performance.now() - since) / 1000);
  };

  private endpointOf({ endpoint }: Observation) {
    return { [ATTRIBUTES.endpoint]: this.labels.of(endpoint) };
  }
}

/** What an instrument is made with. */
export function terms({ unit, description }: Metric): { unit: string; description: string } {
  return { unit, description };
}
