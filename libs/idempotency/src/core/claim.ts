/** The right to run the work, proved by a random token that every change of the record has to name. */
export interface Claim {
  readonly token: string;
  /** Which attempt at this operation holds the claim, counted from 1 since the record was created. */
  readonly attempts: number;
  /** An earlier attempt began outside calls. */
  readonly hasSteps: boolean;
  /** What keeps others away: a committed row with its lease, or a lock of the transaction that the work runs in. */
  readonly heldBy: 'row' | 'transaction';
}
