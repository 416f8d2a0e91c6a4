import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What is done with something the application is about to send to the database. */
export type Interception = 'pass' | 'drop' | 'cut' | 'pass and cut' | 'pass and stall';

interface Pair {
  readonly app: Socket;
  readonly database: Socket;
}

/** Stands between an application and its database, and fails as networks do. */
export class DatabaseProxy {
  /** Looks at each chunk on its way to the database. */
  intercept: (chunk: Buffer) => Interception = () => 'pass';
  private readonly pairs = new Set<Pair>();
  private isStalled = false;
  private server: Server;
  private readonly target: URL;

  private constructor(
    databaseUrl: string,
    private port = 0,
  ) {
    this.target = new URL(databaseUrl);
    this.server = this.createServer();
  }

  static async to(databaseUrl: string): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(databaseUrl);
    await proxy.listen();
    return proxy;
  }

  /** Where the application is to connect. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  /** How many connections go through it now. */
  get connections(): number {
    return this.pairs.size;
  }

  /** Breaks every connection off. */
  cut(): void {
    for (const pair of this.pairs) this.breakOff(pair);
  }

  /** Breaks every connection off and refuses new ones. */
  async refuse(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.cut();
    await closed;
  }

  /** From now on, nothing that is sent arrives, neither way, while every connection stands. */
  stall(): void {
    this.isStalled = true;
    this.stallOpen();
  }

  /** The same for the connections that are open now; new ones work. */
  stallOpen(): void {
    for (const pair of this.pairs) stallPair(pair);
  }

  /** Works again, also for what was stalled. */
  async heal(): Promise<void> {
    this.intercept = () => 'pass';
    this.isStalled = false;
    for (const pair of this.pairs) {
      pair.app.resume();
      pair.database.resume();
    }
    if (!this.server.listening) {
      this.server = this.createServer();
      await this.listen();
    }
  }

  async close(): Promise<void> {
    if (this.server.listening) await this.refuse();
  }

  private createServer(): Server {
    return createServer((app) => this.join(app));
  }

  private async listen(): Promise<void> {
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  private join(app: Socket): void {
    const database = connect(Number(this.target.port || 5432), this.target.hostname);
    const pair: Pair = { app, database };
    this.pairs.add(pair);
    for (const socket of [app, database]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => this.breakOff(pair));
    }
    database.on('data', (chunk) => app.write(chunk));
    app.on('data', (chunk) => this.forward(pair, chunk));
    if (this.isStalled) stallPair(pair);
  }

  private forward(pair: Pair, chunk: Buffer): void {
    const what = this.intercept(chunk);
    if (what === 'drop') return;
    if (what === 'cut') return this.breakOff(pair);
    pair.database.write(chunk);
    if (what === 'pass and stall') stallPair(pair);
    // The database has it for certain once it answers; the answer is what gets lost.
    if (what === 'pass and cut') {
      pair.database.removeAllListeners('data');
      pair.database.once('data', () => this.breakOff(pair));
    }
  }

  private breakOff(pair: Pair): void {
    if (!this.pairs.delete(pair)) return;
    pair.app.destroy();
    pair.database.destroy();
  }
}

function stallPair(pair: Pair): void {
  pair.app.pause();
  pair.database.pause();
}

/** Whether the chunk carries this text as a simple query. */
export function isQuery(chunk: Buffer, text: string): boolean {
  return chunk.includes(`${text}\0`);
}
