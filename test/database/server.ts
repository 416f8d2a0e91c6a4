import { Client } from 'pg';

/** The connection URL of a database on the server that DATABASE_URL names. */
export function databaseUrl(name: string): string {
  const url = new URL(serverUrl());
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** Does something on a connection to the server, outside the test databases; the connection ends with it. */
export async function onServer<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env.DATABASE_URL;
  if (!url) {
    throw new Error(
      'DATABASE_URL is not set, and these tests need PostgreSQL. Run them by `npm test -- <path>`, which brings a server.',
    );
  }
  return url;
}
