import { Injectable } from '@nestjs/common';
import {
  type IdempotentOperation,
  type ReconciledAnswer,
  Reconciles,
  type StepCall,
  StepRefusedError,
} from 'nestjs-idempotency';
import { DataSource } from 'typeorm';
import { ProviderClient } from '../provider/provider-client.js';
import { Settings } from '../settings/settings.js';
import { ENDPOINTS } from './charge-endpoints.js';
import { ChargeOperations, chargeReference, refundReference } from './charge-operations.js';
import { refusalOf } from './charge-problems.js';
import { ChargesService } from './charges.service.js';

/**
 * Finishes what clients did not come back for. It finds out what the provider has done and books that, with the answer
 * that the client would have been given; it asks nothing of the provider that was not done. A client that comes back
 * later can still have it done.
 */
@Injectable()
export class ChargeReconciler {
  constructor(
    private readonly provider: ProviderClient,
    private readonly operations: ChargeOperations,
    private readonly charges: ChargesService,
    private readonly settings: Settings,
    private readonly dataSource: DataSource,
  ) {}

  @Reconciles(ENDPOINTS.charge)
  charge(operation: IdempotentOperation): Promise<ReconciledAnswer | null> {
    const look = (call: StepCall) => this.provider.chargeOf(chargeReference(operation, call), call.signal);
    return this.finish(operation, 'charge', look, async (made) => {
      const charge = await this.operations.bookCharge(operation, made);
      return { status: 201, location: `/charges/${charge.id}`, body: charge };
    });
  }

  @Reconciles(ENDPOINTS.capture)
  capture(operation: IdempotentOperation): Promise<ReconciledAnswer | null> {
    const look = async ({ signal }: StepCall) => {
      const { providerId } = await this.charges.find(this.dataSource.manager, operation.tenant, operation.key);
      const charge = await this.provider.findCharge(providerId, signal);
      return charge.status === 'captured' ? charge : undefined;
    };
    return this.finish(operation, 'capture', look, async (taken) => ({
      status: 201,
      body: await this.operations.bookCapture(operation, taken),
    }));
  }

  @Reconciles(ENDPOINTS.refund)
  refund(operation: IdempotentOperation): Promise<ReconciledAnswer | null> {
    const look = (call: StepCall) => this.provider.refundOf(refundReference(operation, call), call.signal);
    return this.finish(operation, 'refund', look, async (made) => ({
      status: 201,
      body: await this.operations.bookRefund(operation, made),
    }));
  }

  private async finish<Result>(
    operation: IdempotentOperation,
    step: string,
    look: (call: StepCall) => Promise<Result | undefined>,
    book: (result: Result) => Promise<ReconciledAnswer>,
  ): Promise<ReconciledAnswer | null> {
    let result: Result;
    try {
      result = await operation.step(step, () => Promise.reject(new NotDone()), {
        deadlineMs: this.settings.providerDeadlineMs,
        whenUnknown: look,
        failure: () => 'no_effect',
      });
    } catch (error) {
      if (error instanceof NotDone) return null;
      const refusal = error instanceof StepRefusedError ? refusalOf(error) : undefined;
      if (!refusal) throw error;
      return { status: refusal.getStatus(), body: refusal.getResponse() };
    }
    return book(result);
  }
}

/** The provider has not done it, and is not asked to by us. */
class NotDone extends Error {}
