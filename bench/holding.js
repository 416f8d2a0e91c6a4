import { IncomingMessage, ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import { script } from '../scripts/foreground/script.js';
import { buildWhenStale } from '../scripts/workspace/build.js';
import { installMissing } from '../scripts/workspace/install.js';

const USAGE = `Usage: node bench/holding.js [--rounds N]

What does holding a response cost? Writes the same small JSON answer to a response that is held and released, and to
one that is not, in one process and without a network: CPU time for one request, the median of the rounds.
`;

const RESPONSES_A_ROUND = 20_000;

const BODY = Buffer.from(JSON.stringify({ id: 'pay_1', amount: 4999, currency: 'usd', source: 'a', destination: 'b' }));

await script(async (interruption) => {
  const { values } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, rounds: { type: 'string', default: '15' } },
  });
  if (values.help) {
    console.log(USAGE);
    return 0;
  }
  await installMissing(interruption);
  await buildWhenStale(interruption);
  // Not part of the public entry: nobody but the library holds responses.
  const { holdResponse } = await import('../libs/idempotency/dist/esm/http/wire/held-response.js');
  const writers = { bare: answerBare, held: (res) => answerHeld(res, holdResponse) };

  const costs = { bare: [], held: [] };
  await Promise.all(Object.values(writers).map(measure));
  for (let round = 0; round < Number(values.rounds); round++) {
    interruption.throwIfAborted();
    for (const [name, write] of Object.entries(writers)) costs[name].push(await measure(write));
  }
  const differences = costs.held.map((cost, round) => cost - costs.bare[round]);
  console.log(`without holding ${median(costs.bare).toFixed(1)} µs a response, CPU time of this process`);
  console.log(`held            ${median(costs.held).toFixed(1)} µs`);
  console.log(`holding costs   ${median(differences).toFixed(1)} µs`);
  return 0;
});

/** The CPU time of one response, in microseconds. */
async function measure(write) {
  const before = process.cpuUsage();
  for (let count = 0; count < RESPONSES_A_ROUND; count++) {
    write(responseToNowhere());
    // Callbacks of finished responses belong to them.
    if (count % 100 === 99) await new Promise(setImmediate);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / RESPONSES_A_ROUND;
}

/** Like Express answers JSON. */
function answer(res) {
  res.setHeader('X-Powered-By', 'Express');
  res.setHeader('Location', '/payments/pay_1');
  res.setHeader('Content-Type', 'application/json; charset=utf-8');
  res.setHeader('Content-Length', BODY.length);
  res.setHeader('ETag', 'W/"5a-1"');
  res.end(BODY);
}

function answerBare(res) {
  res.statusCode = 201;
  answer(res);
}

/** Settled in the same turn: what the settling itself costs is not the question. */
function answerHeld(res, holdResponse) {
  res.statusCode = 201;
  const held = holdResponse(res, {
    writesOwnResponse: false,
    isFromAttempt: () => true,
    onWorkOver: () => {},
    onForeign: () => {},
    onAnswer: () => {},
  });
  held.handlerStarted();
  held.handlerReturned();
  answer(res);
  held.release();
}

function responseToNowhere() {
  const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const request = new IncomingMessage(socket);
  request.httpVersionMajor = request.httpVersionMinor = 1;
  request.method = 'POST';
  const res = new ServerResponse(request);
  res.assignSocket(socket);
  return res;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}
