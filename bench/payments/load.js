import { randomUUID } from 'node:crypto';
import { Connection } from './connection.js';
import { pairOf, paymentRequest, RESERVED_PAIR } from './requests.js';

const isReplay = ({ head }) => /^idempotent-replayed: true/im.test(head);
const isPayment = (answer) => answer.status === 201 && !isReplay(answer);

/** For each kind of measurement the requests of one connection, and what their answers have to be. */
const KINDS = {
  payment: ({ connection, connections, isContended }) => ({
    request: (nth) => paymentRequest(randomUUID(), isContended ? 0 : pairOf(connection, nth, connections)),
    isRight: isPayment,
  }),
  replay: ({ connection }) => {
    const request = paymentRequest(randomUUID(), connection);
    return { first: request, request: () => request, isRight: (answer) => answer.status === 201 && isReplay(answer) };
  },
  conflict: ({ key }) => {
    const request = paymentRequest(key, RESERVED_PAIR);
    return { request: () => request, isRight: ({ status }) => status === 409 };
  },
};

/** Sends as much as the answers allow, for a time and up to a number of requests; latencies in milliseconds. */
async function measure({ kind, port, connections, milliseconds, requests, isContended, key }) {
  const latencies = [];
  let paid = 0;

  const open = async (_, connection) => {
    const line = await Connection.open(port);
    const script = KINDS[kind]({ connection, connections, isContended, key });
    if (script.first) {
      expect(await line.exchange(script.first), isPayment);
      paid++;
    }
    return { line, ...script };
  };
  const lines = await Promise.all(Array.from({ length: connections }, open));

  const begun = performance.now();
  const end = begun + milliseconds;
  const drive = async ({ line, request, isRight }) => {
    for (let nth = 0; performance.now() < end && latencies.length < requests; nth++) {
      const bytes = request(nth);
      const sent = performance.now();
      const answer = await line.exchange(bytes);
      latencies.push(performance.now() - sent);
      expect(answer, isRight);
    }
  };
  await Promise.all(lines.map(drive));
  const seconds = (performance.now() - begun) / 1_000;
  for (const { line } of lines) line.close();
  if (kind === 'payment') paid += latencies.length;
  return { latencies, perSecond: latencies.length / seconds, paid };
}

function expect(answer, isRight) {
  if (!isRight(answer)) throw new Error(`An answer that was not expected:\n${answer.head}`);
}

process.on('message', (measurement) => {
  measure(measurement).then(
    (result) => process.send(result),
    (error) => process.send({ failure: error.stack }),
  );
});
process.once('disconnect', () => process.exit());
