import { percentile } from '../percentile.js';

/** What one scenario was measured to do at one number of connections, round by round. */
export class Samples {
  #perSecond = [];
  #cpuMs = [];
  #latencies = [];

  add({ perSecond, latencies, cpuMs }) {
    this.#perSecond.push(perSecond);
    this.#cpuMs.push(cpuMs / latencies.length);
    this.#latencies.push(...latencies);
  }

  /** Answers a second: the median of the rounds. */
  get throughput() {
    return median(this.#perSecond);
  }

  /** The CPU time of the app for one request, in milliseconds: the median of the rounds. */
  get cpuMs() {
    return median(this.#cpuMs);
  }

  /** The latency in milliseconds that this share of all requests did not exceed (nearest rank). */
  percentile(share) {
    return percentile(this.#latencies, share);
  }

  /** How the throughput compares with `other`, each round with the same round. */
  ratioTo(other) {
    const ratios = this.#perSecond.map((value, round) => value / other.#perSecond[round]);
    return { median: median(ratios), least: Math.min(...ratios), greatest: Math.max(...ratios) };
  }
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
