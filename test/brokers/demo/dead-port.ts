import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A port behind which nobody listens, until it is opened to a broker. */
export class DeadPort {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;

  private constructor(
    readonly port: number,
    private readonly target: URL,
  ) {}

  static async before(brokerUrl: string): Promise<DeadPort> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    return new DeadPort(port, new URL(brokerUrl));
  }

  /** The broker's URL, by this port. */
  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }

  async open(): Promise<void> {
    this.server = createServer((socket) => {
      const broker = connect(Number(this.target.port), this.target.hostname);
      for (const [one, other] of [
        [socket, broker],
        [broker, socket],
      ] as const) {
        this.sockets.add(one);
        one.on('error', () => other.destroy()).on('close', () => other.destroy());
        one.pipe(other);
      }
    }).listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
  }

  close(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }
}
