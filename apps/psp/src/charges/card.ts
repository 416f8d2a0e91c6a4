import type { ProblemException } from '../problems/problem.exception.js';
import { cardDeclined, insufficientFunds } from './charge-problems.js';

/** The cards there are, named after what becomes of a charge. */
export const CARDS = ['tok_visa', 'tok_declined', 'tok_insufficient'] as const;
export type Card = (typeof CARDS)[number];

/** Why the bank refuses the card; undefined where it does not. */
export function refusalOf(card: Card): ProblemException | undefined {
  switch (card) {
    case 'tok_visa':
      return undefined;
    case 'tok_declined':
      return cardDeclined();
    case 'tok_insufficient':
      return insufficientFunds();
  }
}
