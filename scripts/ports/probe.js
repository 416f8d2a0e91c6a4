import { once } from 'node:events';
import { createServer } from 'node:net';

/** Whether this process could listen on a port; without a host, on every address of the machine. */
export async function isFree(port, host) {
  try {
    await listenBriefly({ port, host });
    return true;
  } catch (error) {
    if (error.code === 'EADDRINUSE') return false;
    throw error;
  }
}

/** A port of 127.0.0.1 that nobody listens on. */
export async function freePort() {
  return listenBriefly({ port: 0, host: '127.0.0.1' });
}

async function listenBriefly(address) {
  const server = createServer().listen(address);
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
