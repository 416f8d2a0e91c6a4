import { Injectable, Logger } from '@nestjs/common';
import { type IdempotentOperation, type StepCall, StepRefusedError } from 'nestjs-idempotency';
import { ProviderClient } from '../provider/provider-client.js';
import { failureOfProvider, ProviderError } from '../provider/provider-error.js';
import type { ProviderCharge, ProviderRefund } from '../provider/provider-objects.js';
import { Settings } from '../settings/settings.js';
import type { Charge } from './charge.entity.js';
import { referenceOf } from './charge-id.js';
import { providerUnavailable, refusalOf } from './charge-problems.js';
import type { ChargeRefund } from './charge-refund.entity.js';
import { ChargesService } from './charges.service.js';
import type { CreateCharge } from './create-charge.dto.js';

/** How often a call is made in one attempt, before the client is asked to come back. */
export const TRIES = 3;

/**
 * What takes a call to the provider: each is one step, under the same key however often it is tried, and one transaction
 * that books what the provider answered together with our own answer.
 */
@Injectable()
export class ChargeOperations {
  private readonly logger = new Logger('Charges');

  constructor(
    private readonly provider: ProviderClient,
    private readonly charges: ChargesService,
    private readonly settings: Settings,
  ) {}

  async charge(operation: IdempotentOperation, { capture = true, ...asked }: CreateCharge): Promise<Charge> {
    const made = await this.step(operation, 'charge', (call) =>
      this.provider.charge({ ...asked, capture, reference: chargeReference(operation, call) }, call),
    );
    return this.bookCharge(operation, made);
  }

  async capture(operation: IdempotentOperation, { providerId }: Charge): Promise<Charge> {
    const taken = await this.step(operation, 'capture', (call) => this.provider.capture(providerId, call));
    return this.bookCapture(operation, taken);
  }

  async refund(operation: IdempotentOperation, { providerId }: Charge, amount: number): Promise<ChargeRefund> {
    const made = await this.step(operation, 'refund', (call) =>
      this.provider.refund(providerId, { amount, reference: refundReference(operation, call) }, call),
    );
    return this.bookRefund(operation, made);
  }

  bookCharge(operation: IdempotentOperation, made: ProviderCharge): Promise<Charge> {
    return operation.commit((manager) => this.charges.add(manager, operation.tenant, made));
  }

  /** Of a charge that is there, as charges are from their operation's commit on. */
  async bookCapture(operation: IdempotentOperation, taken: ProviderCharge): Promise<Charge> {
    return (await operation.commit((manager) => this.charges.settle(manager, operation.tenant, taken)))!;
  }

  /** Of a charge that is there. */
  async bookRefund(operation: IdempotentOperation, made: ProviderRefund): Promise<ChargeRefund> {
    return (await operation.commit((manager) => this.charges.settleRefund(manager, operation.tenant, made)))!;
  }

  private async step<Result>(
    operation: IdempotentOperation,
    name: string,
    call: (call: StepCall) => Promise<Result>,
  ): Promise<Result> {
    const { providerDeadlineMs: deadlineMs } = this.settings;
    try {
      return await operation.step(name, call, { deadlineMs, tries: TRIES, failure: failureOfProvider });
    } catch (error) {
      if (error instanceof StepRefusedError) throw refusalOf(error) ?? error;
      if (!(error instanceof ProviderError)) throw error;
      this.logger.warn(`The step '${name}' had no effect: ${error.message}`);
      throw providerUnavailable(error);
    }
  }
}

/**
 * What a charge is called follows from the key of its call: every try calls it the same, and whoever looks for it knows
 * under which name.
 */
export const chargeReference = ({ tenant: merchantId }: IdempotentOperation, { providerUuid }: StepCall): string =>
  referenceOf({ merchantId, id: `ch_${providerUuid}` });

/** The same for a refund. */
export const refundReference = ({ tenant: merchantId }: IdempotentOperation, { providerUuid }: StepCall): string =>
  referenceOf({ merchantId, id: `re_${providerUuid}` });
