import type { Socket } from 'node:net';
import { idempotencyEntities, idempotencyMigrations } from 'nestjs-idempotency';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { eventually } from '../wire/gate.js';
import { bytesOf, dial, readToEnd, type Response, responsesIn } from '../wire/socket.js';
import type { EndingName } from './endings.js';
import type { Operation } from './operations.js';
import type { WorksApp } from './works-app.js';

/** A request as it is sent. */
export interface Sent {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly tenant: string | undefined;
  /** The header's value, as it stands there. */
  readonly key: string | undefined;
  /** What makes no other request of it is different: the order of the body's members, headers of its client. */
  readonly isTurned: boolean;
}

/** A record as it stands in the table. */
export interface Row {
  readonly tenant: string;
  readonly endpoint: string;
  readonly key: string;
  readonly state: string;
  readonly isLive: boolean;
  readonly isExpired: boolean;
  readonly status: number | null;
  readonly hasBody: boolean;
}

interface Pending {
  readonly socket: Socket;
  /** Null when the connection was closed without an answer. */
  readonly answer: Promise<Response | null>;
}

/** The application, its clients and its database. */
export class World {
  private readonly pending = new Map<number, Pending>();

  constructor(
    private readonly app: WorksApp,
    private readonly witness: Client,
  ) {}

  /** Forgets everything that was done. */
  async begin(): Promise<void> {
    await this.witness.query('TRUNCATE effects, idempotency_records');
  }

  /** Sends a request; resolves when its handler stands at the gate, or with its answer if that comes before. */
  async send(attempt: number, { path, body, tenant, key, isTurned }: Sent): Promise<'entered' | Response> {
    const socket = await dial(this.app.port);
    const headers = {
      Connection: 'close',
      'X-Attempt': String(attempt),
      ...(tenant !== undefined && { 'X-Tenant': tenant }),
      ...(isTurned && { 'User-Agent': 'another', Authorization: `Bearer ${attempt}`, Accept: 'text/html' }),
    };
    const members = Object.entries(body);
    const turned = Object.fromEntries(isTurned ? members.reverse() : members);
    socket.write(bytesOf({ path, headers, body: turned, ...(key !== undefined && { key }) }));
    const answer = readToEnd(socket).then((bytes) => responsesIn(bytes)[0] ?? null);
    this.pending.set(attempt, { socket, answer });
    const entered = this.app.stage.sceneOf(String(attempt)).entered.passed.then(() => 'entered' as const);
    return Promise.race([entered, this.answerTo(attempt)]);
  }

  /** The answer to a request that was sent. */
  async answerTo(attempt: number): Promise<Response> {
    const answer = await this.pending.get(attempt)!.answer;
    if (!answer) throw new Error(`Attempt ${attempt} was closed without an answer.`);
    return answer;
  }

  letGo(attempt: number, ending: EndingName): void {
    this.app.stage.sceneOf(String(attempt)).ending.open(ending);
  }

  timeOut(attempt: number): void {
    this.app.stage.sceneOf(String(attempt)).timeout.open();
  }

  /** Its client leaves, and the server notices. */
  async hangUp(attempt: number): Promise<void> {
    this.pending.get(attempt)!.socket.destroy();
    await this.app.stage.sceneOf(String(attempt)).left.passed;
  }

  /** The database ends the session in which an attempt works. */
  async cut(attempt: number): Promise<void> {
    const backend = await this.app.stage.sceneOf(String(attempt)).entered.passed;
    await this.witness.query('SELECT pg_terminate_backend($1)', [backend]);
    await eventually('the session is gone', async () => {
      const { rowCount } = await this.witness.query('SELECT FROM pg_stat_activity WHERE pid = $1', [backend]);
      return rowCount === 0;
    });
  }

  async lapse(operation: Operation): Promise<void> {
    await this.change(operation, `locked_until = now() - interval '1 millisecond'`);
  }

  async expire(operation: Operation): Promise<void> {
    await this.change(operation, `expires_at = now() - interval '1 millisecond'`);
  }

  /** Deletes what may be deleted, by the statement that operators are told to use. */
  async sweep(): Promise<void> {
    await this.witness.query(
      `DELETE FROM idempotency_records WHERE expires_at < now()
         AND (state = 'completed' OR locked_until IS NULL OR locked_until < now())`,
    );
  }

  connections(): number {
    return this.app.connections();
  }

  async records(): Promise<Row[]> {
    const { rows } = await this.witness.query<Row>(
      `SELECT tenant, endpoint, key, state, response_status AS status,
              response_body IS NOT NULL AS "hasBody", coalesce(locked_until > now(), false) AS "isLive", expires_at <= now() AS "isExpired"
         FROM idempotency_records`,
    );
    return rows;
  }

  /** The attempts that have left an effect, in order; one that has left two stands there twice. */
  async effects(): Promise<number[]> {
    const { rows } = await this.witness.query<{ attempt: number }>('SELECT attempt FROM effects ORDER BY attempt');
    return rows.map(({ attempt }) => attempt);
  }

  private async change(operation: Operation, set: string): Promise<void> {
    const { tenant, endpoint, key } = operation;
    await this.witness.query(`UPDATE idempotency_records SET ${set} WHERE tenant = $1 AND endpoint = $2 AND key = $3`, [
      tenant,
      endpoint,
      key,
    ]);
  }
}

/** Creates the library's tables by its migration, and the business table, which lets anything be written twice. */
export async function prepareDatabase(url: string): Promise<void> {
  const options = { type: 'postgres', url, entities: idempotencyEntities, migrations: idempotencyMigrations } as const;
  const dataSource = await new DataSource(options).initialize();
  await dataSource.runMigrations();
  await dataSource.query('CREATE TABLE effects (attempt integer NOT NULL)');
  await dataSource.destroy();
}
