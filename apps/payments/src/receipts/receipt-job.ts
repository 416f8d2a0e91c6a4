/** The task's name, by which the queue knows who does it. */
export const ISSUE_RECEIPT = 'issue-receipt';

export interface ReceiptJob {
  readonly merchantId: string;
  readonly chargeId: string;
}
