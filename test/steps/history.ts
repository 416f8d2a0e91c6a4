import type { StepOutcome } from 'nestjs-idempotency';

import type { Choices } from '../protocol/random.js';
import { until } from '../protocol/until.js';
import type { LoggedCall, Psp } from '../psp/psp.js';
import type { ChargingApp } from './charging/app.js';
import type { Order } from './charging/orders.js';
import { pay, type Told, type World } from './world.js';

/** How often each thing happened: histories in which something never happens prove nothing about it. */
export type Tally = Map<string, number>;

export interface Scene {
  readonly world: World;
  readonly apps: readonly [ChargingApp, ...ChargingApp[]];
  readonly providers: Readonly<Record<Order['whenUnknown'], Psp>>;
  readonly tally: Tally;
  /** Reconcilers at work, who take up anybody's order. */
  readonly reconciling: Set<Promise<number>>;
}

const ENDPOINTS = ['charges', 'captures'] as const;

const FAULTS = [
  'error_before',
  'error_after',
  'cut_before',
  'cut_after',
  'malformed',
  'rate_limited',
  'slow',
  'no_answer',
  'no_answer_before',
] as const;
const SILENCES = ['no_answer', 'no_answer_before'];
const USUAL_MS = 1_500;
/** Few wait for an answer that does not come: it costs time. */
const HASTY_MS = 100;

/** How long a reconciler may take, who waits for the calls of other orders too. */
const PATIENCE_MS = 60_000;

/** How often a client insists on an answer. */
const MAX_TRIES = 30;

/** One order, from the first request to pay it until its client is answered for good; whatever happens meanwhile. */
export class History {
  /** Everything its client was told. */
  readonly told: Told[] = [];

  private constructor(
    private readonly scene: Scene,
    private readonly choices: Choices,
    readonly order: Order,
    readonly endpoint: (typeof ENDPOINTS)[number],
    readonly psp: Psp,
  ) {}

  static async begin(scene: Scene, choices: Choices): Promise<History> {
    const whenUnknown = choices.chance(0.5) ? 'repeat' : choices.oneOf(['look_up', 'hold'] as const);
    const psp = scene.providers[whenUnknown];
    const order = await scene.world.order(psp, {
      amount: choices.between(1, 1_000),
      card: choices.chance(0.1) ? 'tok_declined' : 'tok_visa',
      whenUnknown,
      // Who looks up waits for the deadline of the try before: that takes its time, and is played now and then.
      tries: whenUnknown === 'look_up' && choices.chance(0.9) ? 1 : choices.between(1, 2),
      deadlineMs: whenUnknown === 'look_up' ? 10_000 : choices.chance(0.2) ? HASTY_MS : USUAL_MS,
    });
    return new History(scene, choices, order, choices.oneOf(ENDPOINTS), psp);
  }

  /** What befalls it: faults, takeovers, killed sessions, reconcilers, in any order. */
  async play(): Promise<void> {
    for (let events = this.choices.between(1, 3); events > 0 && !this.isAnswered; events--) {
      if (this.choices.chance(0.6)) await this.armFault();
      if (this.choices.chance(0.3) && this.order.whenUnknown !== 'look_up') await this.takenOver();
      else if (this.choices.chance(0.08)) await this.killed();
      else await this.ask(this.anyApp());
      if (this.choices.chance(0.15)) await this.reconciled();
      if (this.choices.chance(0.3)) await this.timePasses();
    }
  }

  private get isAnswered(): boolean {
    return this.told.some(({ status }) => status === 201 || status === 422);
  }

  /** Insists until there is an answer; false where it is held, and nobody has said what happened. */
  async end({ isToldOutcomes }: { readonly isToldOutcomes: boolean }): Promise<boolean> {
    await this.noMoreHaste();
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await this.timePasses();
      const { status, code } = await this.ask(this.anyApp());
      if (status === 201 || status === 422) return true;
      if (code !== 'idempotency-outcome-unknown' || this.order.whenUnknown !== 'hold') continue;
      await this.timePasses();
      if (!isToldOutcomes) {
        this.count('held');
        return false;
      }
      await this.resolve();
    }
    throw new Error(`An order has no end: ${JSON.stringify(await this.evidence(), undefined, 1)}`);
  }

  /** What there is to see of it, on both sides. */
  async evidence(): Promise<object> {
    const { endpoint, order, psp, scene } = this;
    const [record] = await scene.world.rows(
      `SELECT state, attempts, token, has_steps, locked_until - now() AS lease FROM idempotency_records WHERE key = $1`,
      order.id,
    );
    return {
      order,
      endpoint,
      told: this.told.map(({ status, code }) => `${status} ${code ?? ''}`.trim()),
      record,
      steps: await scene.world.steps(order),
      calls: (await psp.calls()).filter(({ references }) => references.includes(order.id)),
      armed: (await psp.armed()).filter(({ reference }) => reference === order.id),
    };
  }

  /** Nobody is in a hurry any more: on a busy machine, haste may never hear an answer. */
  private async noMoreHaste(): Promise<void> {
    if (this.order.deadlineMs > HASTY_MS) return;
    await this.scene.world.rows('UPDATE orders SET deadline_ms = $2 WHERE id = $1', this.order.id, USUAL_MS);
  }

  private async ask(app: ChargingApp): Promise<Told> {
    const told = await pay(app.port, this.order, `/${this.endpoint}`);
    this.told.push(told);
    this.count(`told ${told.status} ${told.code ?? (told.isReplay ? 'again' : '')}`.trim());
    return told;
  }

  private async armFault(): Promise<void> {
    const { order, choices, psp } = this;
    const kind = choices.oneOf(FAULTS);
    if (SILENCES.includes(kind) && order.deadlineMs > HASTY_MS) return;
    const operation = this.endpoint === 'captures' ? choices.oneOf(['charge', 'capture'] as const) : 'charge';
    await psp.arm({ kind, operation, reference: order.id, ...(kind === 'slow' && { delayMs: 5 }) });
    this.count(kind);
  }

  /** Another process, or the reconciler, takes the operation over while the first is at it. */
  private async takenOver(): Promise<void> {
    const { choices, order, psp, scene } = this;
    const isHeld = choices.chance(0.5);
    if (isHeld) await psp.arm({ kind: 'hold', at: choices.oneOf(['before', 'during', 'after']), reference: order.id });
    let [isAnswered, isOver] = [false, false];
    const first = this.ask(scene.apps[0]).finally(() => (isAnswered = true));
    if (isHeld) await until('the provider has the call', async () => isAnswered || (await this.held()).length > 0);
    else for (let looks = choices.between(1, 8); looks > 0; looks--) await scene.world.record(order);
    if (await this.leaseRunsOut()) this.count(isHeld ? 'overtaken during the call' : 'overtaken');
    const second = choices.chance(0.7) ? this.ask(scene.apps[1] ?? scene.apps[0]) : this.reconciled();
    if (choices.chance(0.5)) await Promise.race([second, first]);
    void Promise.allSettled([first, second]).then(() => (isOver = true));
    await until(
      'the provider has let the calls go',
      async () => {
        await this.release();
        return isOver;
      },
      PATIENCE_MS,
    );
    await Promise.all([first, second]);
  }

  private async killed(): Promise<void> {
    const { world } = this.scene;
    const asked = this.ask(this.anyApp());
    for (let looks = this.choices.between(0, 8); looks > 0; looks--) await world.record(this.order);
    // Not one that was made this moment: the pool has no ear for it yet, and its error would be nobody's.
    const killed = await world.rows(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'charging' AND query <> ''
        ORDER BY state = 'idle', random() LIMIT 2`,
    );
    if (killed.length > 0) this.count('killed');
    await asked;
  }

  private async reconciled(): Promise<void> {
    const { reconciling } = this.scene;
    const settling = this.anyApp().operations.reconcile();
    reconciling.add(settling);
    const settled = await settling.finally(() => reconciling.delete(settling));
    if (settled > 0) this.count('reconciled');
  }

  /** Anybody's, or that of one claim, or what a released one has left; true where nobody could have taken it. */
  private async leaseRunsOut(token?: string | null): Promise<boolean> {
    const sql = `UPDATE idempotency_records SET locked_until = now()
      WHERE key = $1 AND locked_until > now() AND ($2 OR token IS NOT DISTINCT FROM $3::uuid) RETURNING key`;
    return (await this.scene.world.rows(sql, this.order.id, token === undefined, token)).length > 0;
  }

  /** An hour: by then the provider is done with what nobody waited for, and whoever had the operation is too. */
  private async timePasses(): Promise<void> {
    const { order, psp, scene } = this;
    if (order.whenUnknown === 'repeat') {
      // What it has not done yet makes no difference where keys are kept; but it must not stand there for ever.
      await this.release();
      await scene.world.pass(order);
      return;
    }
    const [claim] = await scene.world.rows<{ token: string | null }>(
      'SELECT token FROM idempotency_records WHERE key = $1',
      order.id,
    );
    let isReconciled = false;
    void Promise.allSettled(scene.reconciling).then(() => (isReconciled = true));
    await until(
      'everybody is done with an order',
      async () => {
        await this.release();
        const calls = (await psp.calls()).filter(({ references }) => references.includes(order.id));
        return isReconciled && calls.every(({ outcome }) => outcome !== null);
      },
      PATIENCE_MS,
    );
    // Not that of a reconciler who came later, and whose call may be under way.
    if (claim) await this.leaseRunsOut(claim.token);
  }

  /** Somebody looks into the provider's book, and says what became of each call. */
  private async resolve(): Promise<void> {
    const [charge] = await this.psp.rows<{ id: string; status: string; amount: number }>(
      'SELECT id, status, amount::int FROM charges WHERE reference = $1',
      this.order.id,
    );
    for (const { name, result } of await this.scene.world.steps(this.order)) {
      if (result !== null) continue;
      const hasHappened = charge && (name !== 'capture' || charge.status === 'captured');
      const outcome: StepOutcome = hasHappened ? { kind: 'happened', value: charge } : { kind: 'did_not_happen' };
      const operation = { tenant: '', endpoint: this.endpoint, key: this.order.id };
      const resolved = this.anyApp().operations.resolve(operation, name, outcome);
      // Sessions are being killed: who is not sure that it was heard says it again.
      if ((await resolved.catch(() => 'not heard')) === null) this.count(outcome.kind);
    }
  }

  private async release(): Promise<void> {
    for (const { id } of await this.held()) await this.psp.post('/control/release', { call: id });
  }

  private async held(): Promise<LoggedCall[]> {
    const { calls } = (await this.psp.get('/control/held')).json() as { calls: LoggedCall[] };
    return calls.filter(({ references }) => references.includes(this.order.id));
  }

  private anyApp(): ChargingApp {
    return this.choices.oneOf(this.scene.apps);
  }

  private count(what: string): void {
    const { tally } = this.scene;
    tally.set(what, (tally.get(what) ?? 0) + 1);
  }
}
