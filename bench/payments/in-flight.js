import { randomUUID } from 'node:crypto';
import { Connection } from './connection.js';
import { paymentRequest, RESERVED_PAIR } from './requests.js';

/**
 * Brings a payment to stand still in the middle of its work: a lock that someone else holds on its payer's row.
 * `key` is what it runs under; `finish` lets it go on and waits for its end.
 */
export async function holdInFlight(port, database) {
  const key = randomUUID();
  const letGo = await database.lockAccount(RESERVED_PAIR);
  const request = paymentRequest(key, RESERVED_PAIR);
  const lines = await Promise.all([Connection.open(port), Connection.open(port)]);
  const answers = lines.map((line) => line.exchange(request));
  // One of the two claims the key; the other one is told so, which is how we know.
  const refused = await Promise.race(answers);
  if (refused.status !== 409) throw new Error(`A duplicate in flight was not refused:\n${refused.head}`);

  const finish = async () => {
    await letGo();
    const statuses = (await Promise.all(answers)).map(({ status }) => status).sort();
    if (statuses.join() !== '201,409') throw new Error(`The payment in flight did not end well: ${statuses.join()}`);
    for (const line of lines) line.close();
  };
  return { key, finish };
}
