import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ReceiptJob } from './receipt-job.js';

@Injectable()
export class ReceiptIssuer {
  constructor(private readonly dataSource: DataSource) {}

  /** One receipt a charge, however often the job is done. */
  async issue({ merchantId, chargeId }: ReceiptJob): Promise<void> {
    await this.dataSource.query(
      `INSERT INTO receipts (merchant_id, charge_id, amount, currency)
       SELECT merchant_id, id, captured, currency FROM charges WHERE merchant_id = $1 AND id = $2
       ON CONFLICT DO NOTHING`,
      [merchantId, chargeId],
    );
  }
}
