import type { Socket } from 'node:net';
import { eventually, type Gate, gate } from '../wire/gate.js';
import type { Witness } from '../wire/ledger.js';
import { dial, readToEnd, responsesIn } from '../wire/socket.js';
import { type App, type AppOptions, type Platform, startApp } from './app.js';
import { paymentsOf, type RecordRow, recordsOf } from './records.js';
import { type Answer, bytesOf, pathOf, type Sending } from './request.js';
import { type Script, scriptOf } from './script.js';
import type { Ending } from './situation.js';

/** A request whose handler is inside, where it waits. */
export interface Begun {
  /** Lets the handler go on, and resolves with what its client is answered. */
  finish(): Promise<Answer>;
  /** What its client is answered, by whomever, while the handler stays where it is. */
  answered(): Promise<Answer>;
  /** Lets the handler go on. */
  letGo(): void;
  /** Has the client leave, and resolves when the server has noticed. */
  hangUp(): Promise<void>;
}

/** Everything that a situation can do and see: an application, its client, and a connection of its own to the database. */
export interface Stage {
  readonly platform: Platform;
  /** Marks whatever belongs to this situation; also the key of its requests, unless they say another. */
  readonly run: string;
  /** What the application does in this run. */
  readonly script: Script;
  readonly app: App;
  /** Where the database is. */
  readonly url: string;
  /** Sends a request on a connection of its own, and reads its one answer. */
  send(sending?: Sending): Promise<Answer>;
  /** The same, not caring for what the answer is: every byte until the connection is closed. */
  exchange(sending?: Sending): Promise<Buffer>;
  /** Sends a request, and leaves its connection to the situation. */
  open(sending?: Sending): Promise<Socket>;
  /** Sends a request, and resolves once its handler is inside. */
  begin(sending?: Sending): Promise<Begun>;
  payments(): Promise<number>;
  records(): Promise<RecordRow[]>;
  /** Resolves when the work of the run is recorded. */
  recorded(): Promise<RecordRow>;
  /** Resolves when no record of the run is left. */
  released(): Promise<void>;
  /** Lets the leases of the run's records run out. */
  lapse(): Promise<void>;
  /** Lets the retention of the run's records run out, and whatever their keys are remembered for. */
  expire(): Promise<void>;
  /** Lets the retention alone of the run's records run out, whose keys are remembered for longer. */
  lapseRetention(): Promise<void>;
  /** Ends the database session of the one work that is under way. */
  killWork(): Promise<void>;
  /** The warnings and errors in the application's log that mention this. */
  complaints(text: string): string[];
  sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]>;
  /** The same with another application in its place. */
  start(options: Partial<AppOptions>): Promise<Stage>;
  /** What an application refuses to start with; fails if it starts. */
  refusalToStart(options: Partial<AppOptions>): Promise<string>;
}

export interface StageOptions extends Pick<AppOptions, 'platform' | 'url' | 'logbook'> {
  readonly app: App;
  readonly witness: Witness;
  readonly run: string;
}

/** A stage, and what is done when its play is over. */
export interface Staging {
  readonly stage: Stage;
  ending(): Promise<Ending>;
  /** Lets go whoever waits, and stops the applications that were started. */
  strike(): Promise<void>;
}

export function stageFor(options: StageOptions): Staging {
  const { run, witness } = options;
  const waiting: Gate[] = [];
  const started: App[] = [];
  return {
    stage: stageOf(options, waiting, started),
    ending: async () => ({
      entries: scriptOf(run).entries,
      payments: await paymentsOf(run, witness),
      records: (await recordsOf(run, witness)).map(({ state }) => state),
    }),
    strike: async () => {
      for (const { open } of waiting) open();
      for (const app of started) await app.close();
    },
  };
}

function stageOf(options: StageOptions, waiting: Gate[], started: App[]): Stage {
  const { platform, url, logbook, app, witness, run } = options;
  const script = scriptOf(run);
  const sql: Stage['sql'] = (text, ...values) => witness.query(text, values);

  const open: Stage['open'] = async (sending = {}) => {
    const socket = await dial(app.port);
    socket.write(bytesOf(run, sending));
    return socket;
  };

  const exchange: Stage['exchange'] = async (sending) => readToEnd(await open(sending));

  const answerIn = (bytes: Buffer, sending: Sending): Answer => {
    const [response, ...others] = responsesIn(bytes, [sending.method ?? 'POST']);
    if (!response) throw new Error('The connection was closed without an answer.');
    if (others.length > 0) throw new Error('There are bytes after the answer.');
    return { ...response, run, path: pathOf(sending) };
  };

  return {
    platform,
    run,
    script,
    app,
    url,
    sql,
    exchange,
    open,
    send: async (sending = {}) => answerIn(await exchange(sending), sending),
    begin: async (sending = {}) => {
      const [inside, go] = [gate(), gate()];
      waiting.push(go);
      const mine = script.entries + 1;
      const { handler } = script;
      script.handler = async (scene) => {
        if (scene.entry === mine) {
          inside.open();
          await go.passed;
        }
        return handler ? handler(scene) : scene.paid;
      };
      const closings = script.closings;
      const socket = await open(sending);
      const received = readToEnd(socket);
      await inside.passed;
      const answered = async () => answerIn(await received, sending);
      return {
        answered,
        finish: () => {
          go.open();
          return answered();
        },
        letGo: go.open,
        hangUp: async () => {
          socket.destroy();
          await eventually('the server notices that the client left', () => script.closings > closings);
        },
      };
    },
    payments: () => paymentsOf(run, witness),
    records: () => recordsOf(run, witness),
    recorded: () =>
      eventually('the work is recorded', async () => {
        const [record] = await recordsOf(run, witness);
        return record?.state === 'completed' ? record : null;
      }),
    released: () =>
      eventually('the claim is released', async () => (await recordsOf(run, witness)).length === 0).then(
        () => undefined,
      ),
    complaints: (text) => logbook.complaints(text),
    killWork: async () => {
      const atWork = await sql(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`,
      );
      if (atWork.length !== 1) throw new Error(`${atWork.length} sessions are at work.`);
      const { pid } = atWork[0]!;
      await sql('SELECT pg_terminate_backend($1)', pid);
      await eventually('the session is gone', async () => {
        return (await sql('SELECT FROM pg_stat_activity WHERE pid = $1', pid)).length === 0;
      });
    },
    lapse: async () => {
      await sql(`UPDATE idempotency_records SET locked_until = statement_timestamp() WHERE key = $1`, run);
    },
    lapseRetention: async () => {
      await sql(`UPDATE idempotency_records SET replays_until = statement_timestamp() WHERE key = $1`, run);
    },
    expire: async () => {
      await sql(
        `UPDATE idempotency_records SET expires_at = statement_timestamp(), replays_until = NULL WHERE key = $1`,
        run,
      );
    },
    start: async (own) => {
      const another = await startApp({ platform, url, logbook, ...own });
      started.push(another);
      return stageOf({ ...options, app: another }, waiting, started);
    },
    refusalToStart: (own) =>
      startApp({ platform, url, logbook, ...own }).then(
        async (another) => {
          await another.close();
          throw new Error('It started.');
        },
        (error: unknown) => (error as Error).message,
      ),
  };
}
