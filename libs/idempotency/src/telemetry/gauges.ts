import type { BatchObservableCallback, Meter, Observable, ObservableCallback } from '@opentelemetry/api';

import type { Report, TableFigures } from '../core/ports.js';
import { ATTRIBUTES, METRICS } from './metrics.js';
import { terms } from './telemetry.js';

const FRESH_FOR_MS = 15_000;

/** A collection is not held up for longer by a database that does not answer. */
const LONGEST_WAIT_MS = 2_000;

/** What is read of the tables; a gauge is left out of a collection where it could not be. */
type Figure = keyof TableFigures;
type Figures = { -readonly [Name in Figure]?: Awaited<ReturnType<TableFigures[Name]>> };

const FIGURES: readonly Figure[] = ['records', 'unknown', 'sweepLagMs'];

/** Values that are looked up when somebody collects them, and only then. */
export class Gauges {
  private figures: Figures = {};
  private readAt = -Infinity;
  private reading: Promise<void> | null = null;
  private readonly failing = new Set<Figure>();
  private stopObserving: (() => void) | undefined;
  private isStopped = false;

  constructor(
    private readonly tables: TableFigures,
    private readonly report: Report,
    /** The tables are not asked again before. */
    private readonly freshForMs = FRESH_FOR_MS,
  ) {}

  /** Has them collected from now on, until {@link stop}. */
  start(meter: Meter, observeOldestAge: ObservableCallback): void {
    const gauge = (metric: keyof typeof METRICS): Observable =>
      meter.createObservableGauge(METRICS[metric].name, terms(METRICS[metric]));
    const oldestAge = gauge('oldestAge');
    oldestAge.addCallback(observeOldestAge);
    const records = gauge('records');
    const unknown = gauge('unknown');
    const unknownOldestAge = gauge('unknownOldestAge');
    const sweepLag = gauge('sweepLag');
    const observe: BatchObservableCallback = async (result) => {
      const figures = await this.current();
      for (const [state, count] of Object.entries(figures.records ?? {})) {
        result.observe(records, count, { [ATTRIBUTES.state]: state });
      }
      if (figures.unknown) {
        result.observe(unknown, figures.unknown.count);
        result.observe(unknownOldestAge, figures.unknown.oldestAgeMs / 1000);
      }
      const { sweepLagMs = null } = figures;
      if (sweepLagMs !== null) result.observe(sweepLag, sweepLagMs / 1000);
    };
    const observed = [records, unknown, unknownOldestAge, sweepLag];
    meter.addBatchObservableCallback(observe, observed);
    this.stopObserving = () => {
      oldestAge.removeCallback(observeOldestAge);
      meter.removeBatchObservableCallback(observe, observed);
    };
  }

  /** Resolves once nothing of the tables is being read any more. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.stopObserving?.();
    await this.reading;
  }

  /** What was read last, or as much as can be read in time. */
  private async current(): Promise<Figures> {
    if (performance.now() - this.readAt >= this.freshForMs) {
      this.reading ??= this.read().finally(() => (this.reading = null));
    }
    if (!this.reading) return this.figures;
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<Figures>((resolve) => {
      timer = setTimeout(() => resolve({}), LONGEST_WAIT_MS).unref();
    });
    const read = this.reading.then(() => this.figures);
    return Promise.race([read, tooLate]).finally(() => clearTimeout(timer));
  }

  /** One after the other, so that no more than one connection is taken for it. */
  private async read(): Promise<void> {
    const figures: Figures = {};
    for (const figure of FIGURES) {
      if (this.isStopped) break;
      try {
        Object.assign(figures, { [figure]: await this.tables[figure]() });
        this.failing.delete(figure);
      } catch (error) {
        if (!this.failing.has(figure)) this.report('A gauge of the tables could not be read, and is left out.', error);
        this.failing.add(figure);
      }
    }
    this.figures = figures;
    this.readAt = performance.now();
  }
}
