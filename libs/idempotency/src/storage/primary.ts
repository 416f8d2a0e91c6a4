import type { DataSource } from 'typeorm';

/** The rows of a query on the primary, also where reads go to replicas. */
export async function queryPrimary<Row>(dataSource: DataSource, text: string, values: unknown[]): Promise<Row[]> {
  const runner = dataSource.createQueryRunner('master');
  try {
    return (await runner.query(text, values)) as Row[];
  } finally {
    await runner.release();
  }
}
