// Stands in for the payments application, and for its provider: answers on PORT, and stops as those are asked to.
import { createServer } from 'node:http';
import pg from 'pg';

const name = import.meta.url.includes('/psp/') ? 'provider' : 'demo';
const exitCode = process.env[`${name.toUpperCase()}_EXIT_CODE`];
if (exitCode) process.exit(Number(exitCode));

const server = createServer((_, response) => response.end());
server.listen(process.env.PORT, () => console.log(`${name} listening with ${process.env.DATABASE_URL}`));

let isClosing = false;
async function close() {
  if (isClosing) return;
  isClosing = true;
  const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
  await client.connect();
  await client.end();
  console.log(`${name} closed while the database was there`);
  process.exit();
}

process.on('SIGINT', close);
process.on('SIGTERM', close);
process.on('disconnect', close);
