import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { script } from './foreground/script.js';
import { buildWhenStale } from './workspace/build.js';
import { installMissing } from './workspace/install.js';
import { root } from './workspace/root.js';

await script(async (interruption) => {
  await installMissing(interruption);
  await buildWhenStale(interruption);
  const { idempotencyEntities, schemaSql } = await import('nestjs-idempotency');
  const { DataSource } = await import('typeorm');
  const dataSource = new DataSource({ type: 'postgres', entities: [...idempotencyEntities] });
  await dataSource.buildMetadatas();
  await writeFile(join(root, 'docs/schema.sql'), schemaSql(dataSource));
  return 0;
});
