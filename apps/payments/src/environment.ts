export interface Environment {
  readonly databaseUrl: string;
  readonly port: number;
}

/** Throws with a line fit to be shown when a variable is missing or makes no sense. */
export function readEnvironment({ DATABASE_URL, PORT = '3000' }: NodeJS.ProcessEnv): Environment {
  if (!DATABASE_URL) throw new Error('Set DATABASE_URL, such as postgres://user@localhost:5432/payments.');
  if (!/^\d{1,5}$/.test(PORT) || Number(PORT) > 65_535) throw new Error(`PORT=${PORT} is not a port.`);
  return { databaseUrl: DATABASE_URL, port: Number(PORT) };
}
