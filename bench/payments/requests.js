/** How many accounts pay, and as many are paid. A multiple of the usual numbers of connections, see `accountsOf`. */
export const PAIRS = 1024;

export const payerOf = (pair) => `bench_payer_${pair}`;
export const payeeOf = (pair) => `bench_payee_${pair}`;

/** A pair that no measured payment uses. */
export const RESERVED_PAIR = PAIRS;

/** The demo's first merchant. */
export const MERCHANT_ID = 'mer_acme';
const API_KEY = 'sk_demo_acme';

/**
 * The pair for a connection's nth payment, each connection walking its own share of them: while the number of
 * connections divides `PAIRS`, no two payments in flight are on one account.
 */
export const pairOf = (connection, nth, connections) => (connection + nth * connections) % PAIRS;

/** The complete bytes of a payment's request. */
export function paymentRequest(key, pair) {
  const body = JSON.stringify({ amount: 1, currency: 'usd', source: payerOf(pair), destination: payeeOf(pair) });
  const head = [
    'POST /payments HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${API_KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    `Idempotency-Key: ${key}`,
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
