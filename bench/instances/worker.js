import { attempt, connect, newOperation, record } from '../store.js';

/** One instance: told to, it does one operation after the other on each of its connections, for so many milliseconds. */
const [url, lanes] = process.argv.slice(2);
const { executor } = await connect(url, { poolSize: Number(lanes) });

process.on('message', async ({ forMs }) => {
  const latencies = [];
  const endsAt = performance.now() + forMs;
  const work = async () => {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      await record(await executor.arrive(attempt(newOperation())));
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: Number(lanes) }, work));
  process.send({ latencies });
});
process.on('disconnect', () => process.exit());
process.send('ready');
