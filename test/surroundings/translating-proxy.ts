import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TranslatingProxy {
  readonly url: string;
  /** How many messages it has translated. */
  readonly translated: number;
  close(): Promise<void>;
}

/** The types of messages that hold text for people: ErrorResponse and NoticeResponse. */
const SPOKEN = new Set([0x45, 0x4e]);

/** Their fields that are in the language of `lc_messages`: severity, message, detail, hint. */
const IN_WORDS = new Set(['S', 'M', 'D', 'H'].map((field) => field.charCodeAt(0)));

/**
 * Stands between an application and its database, and has that speak a language of which nobody knows a word: of its
 * errors, codes and names stay, as they do under another `lc_messages`.
 */
export async function startTranslatingProxy(databaseUrl: string): Promise<TranslatingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let translated = 0;
  const server = createServer((app) => {
    const database = connect(Number(target.port || 5432), target.hostname);
    for (const [socket, other] of [
      [app, database],
      [database, app],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay();
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
    app.on('data', (bytes) => database.write(bytes));
    let pending: Buffer = Buffer.alloc(0);
    database.on('data', (bytes) => {
      pending = Buffer.concat([pending, bytes]);
      while (pending.length >= 5) {
        const end = 1 + pending.readUInt32BE(1);
        if (pending.length < end) return;
        const message = Buffer.from(pending.subarray(0, end));
        pending = pending.subarray(end);
        if (SPOKEN.has(message[0]!)) {
          translate(message);
          translated++;
        }
        app.write(message);
      }
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = new URL(databaseUrl);
  [url.hostname, url.port] = ['127.0.0.1', String((server.address() as AddressInfo).port)];
  return {
    url: url.href,
    get translated() {
      return translated;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Each field is its type, its text and a zero byte; another zero byte ends them. */
function translate(message: Buffer): void {
  for (let at = 5; message[at];) {
    const end = message.indexOf(0, at);
    if (IN_WORDS.has(message[at]!)) message.fill('?', at + 1, end);
    at = end + 1;
  }
}
