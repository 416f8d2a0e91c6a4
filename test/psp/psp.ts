import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Client, type QueryResultRow } from 'pg';
import { createApp } from '../../apps/psp/src/app.js';
import type { AppOptions } from '../../apps/psp/src/settings/app-options.js';
import { eventually } from '../module/gate.js';
import { bytesOf, exchange, type Request, type Response, responsesIn } from '../wire/socket.js';

export interface Sending {
  readonly key?: string;
  readonly apiKey?: string;
}

/** A call as the provider's log tells of it. */
export interface LoggedCall {
  readonly id: string;
  readonly operation: string;
  readonly references: readonly string[];
  readonly heldAt: string | null;
  readonly outcome: string | null;
}

/** The merchant's side of the wire: whatever listens at the port. */
export class Merchant {
  constructor(readonly port: number) {}

  /** The bytes of a request of the merchant's. */
  bytes(method: string, path: string, body?: unknown, { key, apiKey = 'sk_test_demo' }: Sending = {}): string {
    const headers = { Authorization: `Bearer ${apiKey}`, Connection: 'close' };
    return bytesOf({ method, path, headers, body, ...(key !== undefined && { key }) } satisfies Request);
  }

  /** What came back, empty where the connection ended without an answer. */
  raw(method: string, path: string, body?: unknown, sending?: Sending): Promise<Buffer> {
    return exchange(this.port, this.bytes(method, path, body, sending));
  }

  async send(method: string, path: string, body?: unknown, sending?: Sending): Promise<Response> {
    const [response] = responsesIn(await this.raw(method, path, body, sending), [method]);
    if (response === undefined) throw new Error(`${method} ${path} was not answered.`);
    return response;
  }

  get(path: string, sending?: Sending): Promise<Response> {
    return this.send('GET', path, undefined, sending);
  }

  post(path: string, body?: unknown, sending?: Sending): Promise<Response> {
    return this.send('POST', path, body, sending);
  }

  charge(asked: object = {}, sending?: Sending): Promise<Response> {
    return this.post('/charges', chargeOf(asked), sending);
  }

  /** Makes a charge that has to succeed, and returns it. */
  async charged(asked: object = {}): Promise<{ id: string; [member: string]: unknown }> {
    const answer = await this.charge(asked);
    if (answer.status !== 201) throw new Error(answer.payload.toString());
    return answer.json() as { id: string };
  }

  /** Arms a fault. */
  async arm(fault: object): Promise<void> {
    const { status, payload } = await this.post('/control/faults', fault);
    if (status !== 201) throw new Error(payload.toString());
  }

  async disarm(): Promise<void> {
    await this.send('DELETE', '/control/faults');
  }

  async armed(): Promise<Record<string, unknown>[]> {
    return (await this.get('/control/faults')).json()['faults'] as Record<string, unknown>[];
  }

  async calls(): Promise<LoggedCall[]> {
    return (await this.get('/control/calls')).json()['calls'] as LoggedCall[];
  }

  /** The call about this reference, once it is as wanted. */
  untilCall(reference: string, isAsWanted: (call: LoggedCall) => boolean): Promise<LoggedCall> {
    return eventually(`the call about ${reference} is as wanted`, async () =>
      (await this.calls()).find((call) => call.references.includes(reference) && isAsWanted(call)),
    );
  }

  untilHeld(reference: string): Promise<LoggedCall> {
    return this.untilCall(reference, ({ heldAt }) => heldAt !== null);
  }

  async release(): Promise<LoggedCall[]> {
    return (await this.post('/control/release')).json()['calls'] as LoggedCall[];
  }
}

export const chargeOf = (asked: object = {}): object => ({
  amount: 500,
  currency: 'usd',
  card: 'tok_visa',
  ...asked,
});

export const newReference = (): string => `order-${randomUUID()}`;

/** The provider, listening in this process, and a connection that looks past it at its book. */
export class Psp extends Merchant {
  private constructor(
    port: number,
    private readonly app: Awaited<ReturnType<typeof createApp>>,
    private readonly witness: Client,
  ) {
    super(port);
  }

  static async start(options: AppOptions): Promise<Psp> {
    const app = await createApp(options);
    await app.listen(0, '127.0.0.1');
    const witness = new Client(options.databaseUrl);
    await witness.connect();
    return new Psp((app.getHttpServer().address() as AddressInfo).port, app, witness);
  }

  async rows<Row extends QueryResultRow>(sql: string, ...values: unknown[]): Promise<Row[]> {
    return (await this.witness.query<Row>(sql, values)).rows;
  }

  /** How many charges of this reference there are in the book. */
  async charges(reference: string): Promise<number> {
    return (await this.rows('SELECT FROM charges WHERE reference = $1', reference)).length;
  }

  async keptAnswers(key: string): Promise<number> {
    return (await this.rows('SELECT FROM kept_answers WHERE key = $1', key)).length;
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.witness.end();
  }
}
