import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually, gate, type Gate } from '../module/gate.js';

/** One delivery of an event, as it came over the wire. */
export interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** What the body says that happened. */
  readonly event: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: { readonly charge: { readonly reference: string } };
  };
}

/** Where a merchant's events arrive. */
export interface Receiver {
  readonly url: string;
  /** The statuses of the next deliveries; any further one is answered 204. */
  answerWith(...statuses: number[]): void;
  /** Has deliveries wait for their answer until the gate is opened. */
  holdAnswers(): Gate;
  /** The deliveries about this reference, once there are so many. */
  until(reference: string, count: number): Promise<Delivery[]>;
  about(reference: string): Delivery[];
  /** Of these references, in the order in which events about them came. */
  order(references: readonly string[]): string[];
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  let statuses: number[] = [];
  let answers: Gate | undefined;

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    deliveries.push({ headers: request.headers, body, event: JSON.parse(body) as Delivery['event'] });
    const status = statuses.shift() ?? 204;
    await answers?.passed;
    response.writeHead(status, { Location: '/elsewhere' }).end();
  };
  const server = createServer((request, response) => void receive(request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');

  const referenceOf = ({ event }: Delivery): string => event.data.charge.reference;
  const about = (reference: string): Delivery[] => deliveries.filter((delivery) => referenceOf(delivery) === reference);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    answerWith: (...next) => (statuses = next),
    holdAnswers: () => (answers = gate()),
    until: (reference, count) =>
      eventually(`${count} deliveries about ${reference}`, () => {
        const found = about(reference);
        return found.length >= count ? found : undefined;
      }),
    about,
    order: (references) => deliveries.map(referenceOf).filter((reference) => references.includes(reference)),
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
