import { randomBytes } from 'node:crypto';
import { Controller, HttpCode, Post, UnprocessableEntityException } from '@nestjs/common';
import { aes256Gcm, Idempotent } from 'nestjs-idempotency';

import { type Gate, gate } from '../module/gate.js';
import { pay } from '../module/work-app.js';
import { Callee, type PlayAnswer, Stage } from '../steps/plays.js';
import { Cli, environmentOf } from './cli.js';

/** What stands in bodies and results, and is not to be seen by whoever did not ask for it. */
export const SECRETS = { body: 'card-4242', encrypted: 'iban-gb29', result: 'result-of-charge' };

@Controller()
class RecordingsController {
  @Post('receipts')
  @HttpCode(201)
  @Idempotent({ endpoint: 'receipts' })
  receipt(): unknown {
    return { card: SECRETS.body };
  }

  @Post('encrypted')
  @Idempotent({ endpoint: 'encrypted', protect: aes256Gcm({ keys: { first: randomBytes(32) }, current: 'first' }) })
  encrypted(): unknown {
    return { iban: SECRETS.encrypted };
  }

  @Post('long')
  @Idempotent({ endpoint: 'long' })
  long(): unknown {
    return { text: 'x'.repeat(2 ** 20) };
  }

  @Post('refused')
  @Idempotent({ endpoint: 'refused' })
  refused(): never {
    throw new UnprocessableEntityException('No such account.');
  }

  @Post('remembered')
  @Idempotent({ endpoint: 'remembered', tombstones: '30d' })
  remembered(): unknown {
    return {};
  }
}

/** An application on a database of its own, whose operations come into every state by the protocol itself. */
export class Scene {
  private readonly gates: Gate[] = [];
  private readonly working: Promise<unknown>[] = [];

  private constructor(
    readonly stage: Stage,
    readonly cli: Cli,
  ) {}

  static async open(): Promise<Scene> {
    const stage = await Stage.open({
      module: { controllers: [RecordingsController] },
      // A lease that a test has let run out is not renewed by the worker that stands still, and no other one runs out.
      idempotency: { lease: '10m', renewForMs: 1, sweep: false },
    });
    return new Scene(stage, new Cli(environmentOf(passwordIn(stage.url))));
  }

  /** Lets go of every worker, and ends. */
  async close(): Promise<void> {
    for (const { open } of this.gates) open();
    await Promise.all(this.working);
    await this.stage.close();
  }

  /** Sends a request to an endpoint that answers by itself. */
  post(endpoint: string, key: string) {
    return this.stage.app.post(`/${endpoint}`, { key });
  }

  /** A payment whose worker stands still within its transaction; what it answers comes once it may go on. */
  async paying(
    key: string,
    label = 'slow',
  ): Promise<{ readonly goOn: () => void; readonly answered: Promise<{ status: number }> }> {
    const [entered, go] = [gate(), gate()];
    const answered = this.stage.app.attempt(async (manager, run) => {
      await pay(manager, run, label);
      entered.open();
      await go.passed;
      return {};
    }, key);
    this.gates.push(go);
    this.working.push(answered);
    await entered.passed;
    return { goOn: go.open, answered };
  }

  /** The same, and its lease has run out. */
  async stalled(key: string, label?: string): ReturnType<Scene['paying']> {
    const worker = await this.paying(key, label);
    await this.stage.pass(key);
    return worker;
  }

  /** An operation whose first step is known, and whose second may have happened. */
  unknown(key: string, provider = new Callee(500)): Promise<PlayAnswer> {
    return this.stage.play(key, async (operation) => {
      await operation.step('authorize', () => Promise.resolve({ id: SECRETS.result }));
      const charge = await operation.step('charge', provider.call, { whenUnknown: 'hold' });
      return operation.commit((manager) => pay(manager, operation.key, charge));
    });
  }

  /** An operation whose one step is known, and which failed then. */
  async failedAfterStep(key: string): Promise<void> {
    await this.stage.play(key, async (operation) => {
      await operation.step('charge', () => Promise.resolve({ id: SECRETS.result }));
      throw new Error('The rest failed.');
    });
  }

  /** Moves the times of a record back, as if it had been made that long ago. */
  async age(key: string, by: string): Promise<void> {
    await this.stage.app.witness.rows(
      `UPDATE idempotency_records SET created_at = created_at - $2::interval, locked_at = locked_at - $2::interval,
         locked_until = locked_until - $2::interval, completed_at = completed_at - $2::interval,
         replays_until = replays_until - $2::interval, expires_at = expires_at - $2::interval WHERE key = $1`,
      key,
      by,
    );
  }

  async row(key: string): Promise<Record<string, unknown>> {
    const [row] = await this.stage.app.witness.rows('SELECT *, xmin FROM idempotency_records WHERE key = $1', key);
    return row!;
  }

  payments(key: string): Promise<string[]> {
    return this.stage.app.witness.payments(key);
  }
}

/** The URL with a password in any case; a server that does not ask for one does not look at it. */
function passwordIn(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.password ||= 'not-asked-for';
  return url.href;
}

export function passwordOf(cliUrl: string): string {
  return decodeURIComponent(new URL(passwordIn(cliUrl)).password);
}
