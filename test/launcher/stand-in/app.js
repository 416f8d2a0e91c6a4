// Stands in for the payments application: answers on PORT, and stops as that one is asked to.
import { createServer } from 'node:http';
import pg from 'pg';

if (process.env.EXIT_CODE) process.exit(Number(process.env.EXIT_CODE));

const server = createServer((_, response) => response.end());
server.listen(process.env.PORT, () => console.log(`listening with ${process.env.DATABASE_URL}`));

let isClosing = false;
async function close() {
  if (isClosing) return;
  isClosing = true;
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.end();
  console.log('closed while the database was there');
  process.exit();
}

process.on('SIGINT', close);
process.on('SIGTERM', close);
process.on('disconnect', close);
