import type { Attempt } from '../../core/attempt.js';
import { IdempotencyError } from '../../core/errors.js';
import { Observation, type Observer } from '../../core/observation.js';
import type { Report } from '../../core/ports.js';
import { type Handled, type Settlement, settlementOf } from '../../messaging/settlement.js';
import type { OperationRuns, OperationWork } from '../operation-runs.js';
import type { MessageOptions } from '../options.js';
import type { EndpointSettings } from '../settings.js';

/** A consumer of messages: its name, and what holds for it. */
export interface Consumer {
  readonly endpoint: string;
  readonly settings: EndpointSettings;
}

/** Takes delivered messages through the protocol, and says what is to become of each. */
export class Consumption {
  constructor(
    private readonly runs: OperationRuns,
    private readonly onSettled: MessageOptions['onSettled'],
    private readonly observer: Observer,
    private readonly report: Report,
  ) {}

  /** Handles one delivery; `identify` says which operation it is. Rejects only with what is no failure of a message. */
  async consume<Result>(
    { endpoint, settings }: Consumer,
    identify: () => Promise<Attempt> | Attempt,
    work: OperationWork<Result>,
  ): Promise<Settlement<Result>> {
    const observation = new Observation(this.observer, 'message', endpoint);
    const settlement = settlementOf(await this.handle(settings, identify, work, observation), settings.maxTries);
    this.tell(endpoint, settlement, observation);
    return settlement;
  }

  private async handle<Result>(
    settings: EndpointSettings,
    identify: () => Promise<Attempt> | Attempt,
    work: OperationWork<Result>,
    observation: Observation,
  ): Promise<Handled<Result>> {
    let attempt: Attempt;
    try {
      attempt = { ...(await observation.identify(identify)), countedTries: settings.maxTries };
    } catch (error) {
      if (error instanceof IdempotencyError) return { kind: 'refused', error };
      throw error;
    }
    return this.runs.handle(attempt, settings, work, observation);
  }

  private tell<Result>(endpoint: string, settlement: Settlement<Result>, { operation }: Observation): void {
    if (settlement.kind === 'park') {
      this.report(`A message for ${endpoint} was parked (${settlement.reason}).`, settlement.error, operation);
    } else if (settlement.kind === 'retry' && saysOfTheWork(settlement.error)) {
      this.report(`The work of a message for ${endpoint} failed and was undone.`, settlement.error, operation);
    }
    void this.tellApplication(endpoint, settlement);
  }

  /** Nobody waits for it. */
  private async tellApplication(endpoint: string, settlement: Settlement): Promise<void> {
    try {
      // What returns nothing may be an async function all the same.
      const telling: unknown = this.onSettled?.(endpoint, settlement);
      await telling;
    } catch (error) {
      this.report('`messages.onSettled` failed; the message is settled all the same.', error);
    }
  }
}

/** Other refusals say how things stand around it, and pass. */
function saysOfTheWork(error: unknown): boolean {
  return !(error instanceof IdempotencyError) || error.code === 'idempotency-work-broken';
}
