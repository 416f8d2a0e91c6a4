/** A request, as far as it differs from the usual one: `POST /payments` of the owner, with his key. */
export interface Asked {
  readonly method?: string;
  readonly path?: string;
  /** As it stands in its header line; null for no such line. */
  readonly key?: string | null;
  readonly apiKey?: string | null;
  /** Further header lines, before those of the body. */
  readonly lines?: readonly string[];
  /** Sent as JSON; null for none. */
  readonly body?: object | null;
}

/** The key that the requests of a page share, unless they say another. */
export const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324';
export const OTHER_KEY = '0ccb7a6c-3c5f-4f0a-9a5e-2f6f6c1c7d11';

export const PAYMENT = { amount: 4200, currency: 'eur', source: 'acct_alice', destination: 'acct_shop' } as const;

/** The bytes of a request that asks for its connection to be closed afterwards. */
export function bytesOf(asked: Asked = {}): string {
  const {
    method = 'POST',
    path = '/payments',
    key = KEY,
    apiKey = 'sk_acme_owner',
    lines = [],
    body = PAYMENT,
  } = asked;
  const content = body === null ? '' : JSON.stringify(body);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: api.example.com',
    'Connection: close',
    ...(apiKey === null ? [] : [`Authorization: Bearer ${apiKey}`]),
    ...(key === null ? [] : [`Idempotency-Key: ${key}`]),
    ...lines,
    ...(body === null ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(content)}`]),
  ];
  return `${head.join('\r\n')}\r\n\r\n${content}`;
}
