import { dial, readToEnd, type Response, responsesIn } from '../wire/socket.js';
import { type App, type AppOptions, type Platform, startApp } from './payments/app.js';
import type { Moment } from './payments/cues.js';
import { type Doomed, type DoomedOptions, startDoomed } from './payments/process.js';
import { type Asked, bytesOf } from './request.js';
import { exchangeText } from './transcript.js';
import type { Witness } from './witness.js';

/** Who listens at a port: an application, or a process. */
interface Listening {
  readonly port: number;
}

/** A request whose handler stands where the play wants it. */
export interface Begun {
  /** Lets the handler go on, and resolves with what the client is answered. */
  finish(): Promise<Response>;
  /** Lets the handler go on. */
  goOn(): void;
  /** What the client is answered, whoever answers. */
  readonly answer: Promise<Response>;
}

/** A request that is to have no answer. */
export interface Calling {
  /** Ends the connection from the client's side. */
  hangUp(): void;
  /** Resolves once the connection has ended; rejects where any byte of an answer came. */
  silence(): Promise<void>;
}

/** Everything that a play can do and see. What it exchanges under a name is what the page has to show under it. */
export interface Stage {
  /** Where the database is. */
  readonly url: string;
  readonly witness: Witness;
  /** Starts an application, which is stopped when the play is over. */
  start(options?: Omit<AppOptions, 'platform' | 'url'> & { readonly url?: string }): Promise<App>;
  /** Starts an application in a process of its own that dies at its first payment. */
  startDoomed(dies: DoomedOptions['dies'], options?: Pick<DoomedOptions, 'idempotency'>): Promise<Doomed>;
  /** Sends a request on a connection of its own, and reads its one whole answer. */
  exchange(name: string, at: Listening, asked?: Asked): Promise<Response>;
  /** Sends a request, and resolves once its handler has reached the moment, where it waits. */
  begin(name: string, at: App, moment: Moment, asked?: Asked): Promise<Begun>;
  /** Sends a request that is to have no answer. */
  call(name: string, at: Listening, asked?: Asked): Promise<Calling>;
  /** Something to close when the play is over, however it ends. */
  finally(close: () => unknown): void;
}

/** A stage, and what is left when its play is over. */
export interface Staging {
  readonly stage: Stage;
  readonly exchanges: ReadonlyMap<string, string>;
  /** Lets go whoever waits, and stops what was started. */
  strike(): Promise<void>;
}

export interface StagingOptions {
  readonly platform: Platform;
  readonly url: string;
  readonly witness: Witness;
}

export function prepareStage({ platform, url, witness }: StagingOptions): Staging {
  const closings: (() => unknown)[] = [];
  const exchanges = new Map<string, string>();

  /** Sends a request; `received` notes the exchange, and resolves with what came until the connection ended. */
  const send = async (name: string, { port }: Listening, asked: Asked) => {
    const request = bytesOf(asked);
    const socket = await dial(port);
    socket.write(request);
    const received = readToEnd(socket).then((answer) => {
      if (exchanges.has(name)) throw new Error(`There are two exchanges called '${name}'.`);
      exchanges.set(name, exchangeText(request, answer));
      return answer;
    });
    return { socket, received };
  };

  const exchange: Stage['exchange'] = async (name, at, asked = {}) => {
    const received = await (await send(name, at, asked)).received;
    const [response, ...others] = responsesIn(received, [asked.method ?? 'POST']);
    if (!response?.isWhole || others.length > 0) throw new Error(`'${name}' did not get one whole answer.`);
    return response;
  };

  const stage: Stage = {
    url,
    witness,
    exchange,
    start: async (options) => {
      const app = await startApp({ platform, url, ...options });
      closings.push(() => app.close());
      return app;
    },
    startDoomed: async (dies, options) => {
      const doomed = await startDoomed({ platform, url, dies, ...options });
      closings.push(doomed.kill);
      return doomed;
    },
    begin: async (name, app, moment, asked) => {
      const { reached, goOn } = app.cues.standAt(moment);
      closings.push(goOn);
      const answer = exchange(name, app, asked);
      const early = answer.then(({ status }) => {
        throw new Error(`'${name}' was answered ${status} before its handler was there.`);
      });
      await Promise.race([reached, early]);
      early.catch(() => undefined);
      return { goOn, answer, finish: () => (goOn(), answer) };
    },
    call: async (name, at, asked = {}) => {
      const { socket, received } = await send(name, at, asked);
      return {
        hangUp: () => void socket.destroy(),
        silence: async () => {
          if ((await received).length > 0) throw new Error(`'${name}' got an answer.`);
        },
      };
    },
    finally: (close) => void closings.push(close),
  };

  return {
    stage,
    exchanges,
    strike: async () => {
      for (const close of closings.reverse()) await close();
    },
  };
}
