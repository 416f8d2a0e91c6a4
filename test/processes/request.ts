import { connect } from 'node:net';

/** One answer, as its bytes came over the socket. */
export interface Answer {
  /** Everything that came, one character a byte; empty where the connection ended without an answer. */
  readonly raw: string;
  /** 0 without an answer. */
  readonly status: number;
  readonly isReplay: boolean;
  /** The `code` of a problem. */
  readonly code: string | undefined;
  readonly body: string;
}

export interface PaymentRequest {
  readonly key: string;
  readonly amount: number;
}

/** Asks for a payment on a connection of its own. */
export function pay(port: number, { key, amount }: PaymentRequest): Promise<Answer> {
  const body = JSON.stringify({ amount, currency: 'usd', source: 'acct_alice', destination: 'acct_shop' });
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(
        `POST /payments HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer sk_demo_acme\r\n` +
          `Idempotency-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      ),
    );
    socket.on('data', (part) => parts.push(part));
    // A process that was killed resets the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(answerIn(Buffer.concat(parts).toString('latin1'))));
  });
}

function answerIn(raw: string): Answer {
  const end = raw.indexOf('\r\n\r\n');
  const [head, body] = end < 0 ? [raw, ''] : [raw.slice(0, end), raw.slice(end + 4)];
  return {
    raw,
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    isReplay: /^Idempotent-Replayed: true$/im.test(head),
    code: /"code":"([\w-]+)"/.exec(body)?.[1],
    body,
  };
}
