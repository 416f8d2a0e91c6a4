import type { Order } from './app.js';
import type { AppProcess } from './process.js';

export const ENDPOINTS = ['lease', 'transaction', 'sealed', 'refused', 'charged'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

export interface Answer {
  /** 0 where the connection ended without one. */
  readonly status: number;
  readonly isReplay: boolean;
  readonly code: string | undefined;
  /** What has to be the same whenever the key is answered: status, type and bytes. */
  readonly bytes: string;
}

export async function send({ port }: AppProcess, endpoint: Endpoint, key: string, order: Order): Promise<Answer> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/${endpoint}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body: JSON.stringify(order),
    });
    const body = await response.text();
    return {
      status: response.status,
      isReplay: response.headers.get('Idempotent-Replayed') === 'true',
      code: /"code":"(idempotency-[\w-]+)"/.exec(body)?.[1],
      bytes: `${response.status} ${response.headers.get('Content-Type')} ${body}`,
    };
  } catch {
    return { status: 0, isReplay: false, code: undefined, bytes: '' };
  }
}
