import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';

/** One statement on its way to the server. */
export interface Passing {
  /** The name it is prepared under, or the first word of its text. */
  readonly statement: string;
  readonly client: PoolClient;
  /** Sends it, with `more` commands behind its text; resolves with the server's answer. */
  send(more?: string): Promise<unknown>;
}

/** Stands between the code that it is set on and the server, and lets each statement pass as it likes. */
export type Watch = (passing: Passing) => Promise<unknown>;

const watches = new AsyncLocalStorage<Watch>();

/** Sets `watch` on everything that `run` sends through a watched data source, now or later. */
export function watching<T>(watch: Watch, run: () => T): T {
  return watches.run(watch, run);
}

/** Makes the statements of a data source pass by the watch of whoever sends them. */
export function watchable(dataSource: DataSource): void {
  const known = new WeakSet<PoolClient>();
  (dataSource.driver as unknown as { master: Pool }).master.on('acquire', (client) => {
    if (known.has(client)) return;
    known.add(client);
    const query: (...args: unknown[]) => unknown = client.query.bind(client);
    const passBy = (...args: unknown[]): unknown => {
      const watch = watches.getStore();
      if (!watch) return query(...args);
      const send = (more?: string) =>
        query(...(more === undefined ? args : [longer(args[0], more)])) as Promise<unknown>;
      return watch({ statement: statementOf(args[0]), client, send });
    };
    client.query = passBy as typeof client.query;
  });
}

/** Destroys the client's end of the connection, as the death of its process does. */
export function cut(client: PoolClient): void {
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream.destroy();
}

/** The server's process behind a connection. */
export function backendOf(client: PoolClient): number {
  return (client as unknown as { readonly processID: number }).processID;
}

function statementOf(query: unknown): string {
  const { name, text } = asQuery(query);
  return name ?? text.trim().split(/[\s;]/, 1)[0] ?? '';
}

function longer(query: unknown, more: string): Query {
  const { text, ...rest } = asQuery(query);
  return { ...rest, text: `${text}; ${more}` };
}

function asQuery(query: unknown): Query {
  return typeof query === 'string' ? { text: query } : (query as Query);
}

interface Query {
  readonly name?: string;
  readonly text: string;
}
