import { Refusal } from '../foreground/refusal.js';

/** A Refusal for a machine on which the embedded PostgreSQL cannot run: says which other server to use, and how. */
export function useOwnServer(reason) {
  return new Refusal(`${reason}

Without the embedded PostgreSQL, name a server in DATABASE_URL. For example the one of docker-compose.yml:

  docker compose up -d --wait
  export DATABASE_URL=postgres://postgres:postgres@127.0.0.1:5432/postgres

and run the same command again.`);
}
