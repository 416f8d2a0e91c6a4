/** The least of the samples that this share of them does not exceed (nearest rank). */
export function percentile(samples, share) {
  const sorted = Float64Array.from(samples).sort();
  return sorted[Math.ceil(share * sorted.length) - 1];
}
