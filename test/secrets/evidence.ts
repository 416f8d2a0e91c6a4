import type { Client } from 'pg';
import type { Response } from '../wire/socket.js';
import type { Output } from './output.js';
import { bytesOf, type Place, type SecretName, type Secrets, tracesOf } from './secrets.js';

/** What was seen of an application from all sides. */
export class Evidence {
  private readonly texts = new Map<Place, string[]>();

  constructor(private readonly secrets: Secrets) {}

  /** Where a secret was found. */
  placesOf(name: SecretName): Place[] {
    const traces = tracesOf(bytesOf(name, this.secrets));
    const places = [...this.texts].filter(([, texts]) =>
      texts.some((text) => traces.some((trace) => text.includes(trace))),
    );
    return places.map(([place]) => place).sort();
  }

  addAnswer(answer: Response): void {
    const head = answer.headers.map(([name, value]) => `${name}: ${value}`).join('\n');
    this.add(placeOf(answer), `${answer.status} ${answer.reason}\n${head}\n\n${answer.payload.toString('latin1')}`);
  }

  addOutput(output: Output): void {
    this.add('log', output.text);
  }

  /** The statements of the application's sessions, as the database shows them now. */
  async addStatements(witness: Client): Promise<void> {
    const { rows } = await witness.query<{ query: string }>(
      `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'confiding'`,
    );
    for (const { query } of rows) this.add('statement', query);
  }

  /** Every column of every row of the library's tables: bytes as they are, and all the rest as text. */
  async addTables(witness: Client): Promise<void> {
    for (const table of ['idempotency_records', 'idempotency_steps']) {
      const { rows } = await witness.query<Record<string, unknown>>(`SELECT * FROM ${table}`);
      for (const [column, value] of rows.flatMap((row) => Object.entries(row))) {
        this.add(`column ${column}`, Buffer.isBuffer(value) ? value.toString('latin1') : String(value));
      }
    }
  }

  private add(place: Place, text: string): void {
    this.texts.set(place, [...(this.texts.get(place) ?? []), text]);
  }
}

function placeOf(answer: Response): Place {
  if (answer.header('Idempotent-Replayed') !== undefined) return 'replay';
  return answer.header('Content-Type')?.startsWith('application/problem+json') ? 'problem' : 'answer';
}
