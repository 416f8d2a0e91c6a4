import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Charge } from '../charges/charge.entity.js';
import { ISSUE_RECEIPT, type ReceiptJob } from './receipt-job.js';

/** Work that is done after a commit, and for certain: the job is a row of the transaction that makes it necessary. */
@Injectable()
export class ReceiptQueue {
  /** The job is there exactly if the transaction commits. */
  async enqueue(manager: EntityManager, { merchantId, id: chargeId }: Charge): Promise<void> {
    const job: ReceiptJob = { merchantId, chargeId };
    await manager.query('SELECT graphile_worker.add_job($1, payload := $2::json)', [
      ISSUE_RECEIPT,
      JSON.stringify(job),
    ]);
  }
}
