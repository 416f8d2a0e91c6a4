/*
 * Has this process wait at any statement that it sends to its database. What `obey()` is handed comes over the channel to
 * its parent:
 *
 *   { stopAt: { statement, when } }   wait before or after the next statement that matches; tells { armed } at once, and
 *                                     { reached } then
 *   { goOn: true }                    go on
 */
import pg from 'pg';

let stop = null;
let goOn = () => undefined;

const sendQuery = pg.Client.prototype.query;
pg.Client.prototype.query = function (...args) {
  const [query] = args;
  const text = typeof query === 'string' ? query : (query?.name ?? query?.text ?? '');
  if (stop === null || !new RegExp(stop.statement).test(text)) return sendQuery.apply(this, args);
  const { when } = stop;
  stop = null;
  return around(when, () => sendQuery.apply(this, args));
};

async function around(when, send) {
  if (when === 'before') {
    await stand();
    return send();
  }
  const answer = await send();
  await stand();
  return answer;
}

function stand() {
  const opened = new Promise((resolve) => (goOn = resolve));
  process.send({ reached: true });
  return opened;
}

/** Does what a message from the parent says of statements; any other is none of its business. */
export function obey(message) {
  if (message.stopAt) {
    stop = message.stopAt;
    process.send({ armed: true });
  }
  if (message.goOn) goOn();
}
