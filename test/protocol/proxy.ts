import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What becomes of the next statement that holds the given text.
 *
 * - `cut before`: both ends lose their connection before the server gets it
 * - `cut after`: the server has answered it; the client loses its connection instead of hearing so
 * - `hang before`: the server does not get it, and nobody notices: both ends keep their connection
 * - `hang after`: the server has answered it, and the client goes on waiting
 */
export type Fault = 'cut before' | 'cut after' | 'hang before' | 'hang after';

/** A network between a worker and its database that loses what it is told to lose. */
export interface Proxy {
  /** The URL of the database behind it. */
  readonly url: string;
  /** Lets one statement go wrong; resolves once it has. */
  lose(text: string, fault: Fault): Promise<void>;
  close(): Promise<void>;
}

interface Plan {
  readonly text: string;
  readonly fault: Fault;
  readonly onDone: () => void;
}

export async function startProxy(databaseUrl: string): Promise<Proxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let plan: Plan | undefined;

  const server = createServer((client) => {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
    }
    let link: 'open' | 'hung' | 'awaiting' = 'open';
    let losing: Plan | undefined;
    const cutBoth = (): void => {
      client.destroy();
      upstream.destroy();
    };
    client.on('close', () => link !== 'hung' && upstream.destroy());
    upstream.on('close', () => link !== 'hung' && client.destroy());
    client.on('data', (bytes) => {
      if (link === 'hung') return;
      if (plan && bytes.includes(plan.text)) {
        losing = plan;
        plan = undefined;
        if (losing.fault.endsWith('before')) {
          if (losing.fault === 'cut before') cutBoth();
          else link = 'hung';
          losing.onDone();
          return;
        }
        link = 'awaiting';
      }
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (link === 'open') client.write(bytes);
      if (link !== 'awaiting' || !isComplete(bytes)) return;
      if (losing?.fault === 'cut after') cutBoth();
      else link = 'hung';
      losing?.onDone();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');

  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    lose: (text, fault) => new Promise((onDone) => (plan = { text, fault, onDone })),
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Whether the server's answer is over: it ends with ReadyForQuery, whose last byte is the state of the transaction. */
function isComplete(bytes: Buffer): boolean {
  return bytes.subarray(-6, -1).equals(Buffer.from([0x5a, 0, 0, 0, 5]));
}
