const line = (connections, title, throughput, p50, p99, cpu, ratio) =>
  `${String(connections).padStart(11)}  ${title.padEnd(28)}${throughput.padStart(11)}${p50.padStart(9)}${p99.padStart(9)}${cpu.padStart(9)}   ${ratio}`;

export const heading = line('connections', '', 'requests/s', 'p50 ms', 'p99 ms', 'CPU ms', 'of bare');

/** One line of the table: what `samples` show, compared with `bare`. */
export function row(connections, title, samples, bare) {
  return line(
    connections,
    title,
    samples.throughput.toFixed(0),
    samples.percentile(0.5).toFixed(2),
    samples.percentile(0.99).toFixed(2),
    samples.cpuMs.toFixed(2),
    samples === bare ? '1.00' : ratioText(samples.ratioTo(bare)),
  );
}

const ratioText = ({ median, least, greatest }) => `${median.toFixed(2)} (${least.toFixed(2)}–${greatest.toFixed(2)})`;
