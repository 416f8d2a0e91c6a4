import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

import { FrameReader } from './amqp-frames.js';
import { Settlements } from './settlements.js';

/** What a client says first: `AMQP` and the version of the protocol. */
const PROTOCOL_HEADER_BYTES = 8;

/**
 * Stands between RabbitMQ and its consumers, and reads along what they say of the deliveries they were given: the server
 * tells nobody which messages were acknowledged, nor how many are being worked on.
 */
export class AmqpProxy {
  /** The bodies of the messages that were acknowledged. */
  readonly acknowledged: Buffer[] = [];
  /** How many were refused for good. */
  refused = 0;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: URL,
  ) {
    server.on('connection', (consumer) => this.join(consumer));
  }

  static async before(url: string): Promise<AmqpProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new AmqpProxy(server, new URL(url));
  }

  /** Where consumers find it. */
  get url(): string {
    const url = new URL(this.target);
    url.protocol = 'amqp:';
    url.host = `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return url.href;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(consumer: Socket): void {
    const rabbit = this.connect();
    const settlements = new Settlements((how, body) => {
      if (how === 'acknowledged') this.acknowledged.push(body);
      else this.refused++;
    });
    const fromConsumer = new FrameReader(PROTOCOL_HEADER_BYTES);
    const fromRabbit = new FrameReader(0);
    consumer.on('data', (chunk) => {
      for (const frame of fromConsumer.read(chunk)) settlements.fromClient(frame);
      rabbit.write(chunk);
    });
    rabbit.on('data', (chunk) => {
      for (const frame of fromRabbit.read(chunk)) settlements.fromServer(frame);
      consumer.write(chunk);
    });
    for (const [one, other] of [
      [consumer, rabbit],
      [rabbit, consumer],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        this.sockets.delete(one);
        // What a consumer had said before it died is heard.
        other.end();
      });
    }
  }

  private connect(): Socket {
    const { protocol, hostname, port } = this.target;
    if (protocol === 'amqps:') return connectSecurely({ host: hostname, port: Number(port || 5671) });
    return connect({ host: hostname, port: Number(port || 5672) });
  }
}
