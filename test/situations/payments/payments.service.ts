import { HttpException, HttpStatus, Injectable } from '@nestjs/common';
import { EntityManager } from 'typeorm';

import type { CreatePayment } from './create-payment.dto.js';
import { Cues } from './cues.js';

export interface Payment extends CreatePayment {
  readonly id: string;
}

/** Moves money from one account to another. */
@Injectable()
export class PaymentsService {
  constructor(private readonly cues: Cues) {}

  async create(manager: EntityManager, request: CreatePayment): Promise<Payment> {
    const { amount, currency, source, destination } = request;
    // A sequence takes nothing back: it counts the runs that are undone as well.
    await manager.query(`SELECT nextval('runs')`);
    await this.cues.reach('entered');
    const [, debited] = await manager.query<[rows: unknown[], count: number]>(
      'UPDATE accounts SET balance = balance - $2 WHERE id = $1 AND balance >= $2',
      [source, amount],
    );
    if (debited === 0) throw insufficientFunds();
    await this.cues.reach('debited');
    await manager.query('UPDATE accounts SET balance = balance + $2 WHERE id = $1', [destination, amount]);
    const [{ id }] = await manager.query<[{ id: string }]>(
      'INSERT INTO payments (amount, currency, source, destination) VALUES ($1, $2, $3, $4) RETURNING id',
      [amount, currency, source, destination],
    );
    await this.cues.reach('written');
    return { id: `pay_${id}`, amount, currency, source, destination };
  }
}

function insufficientFunds(): HttpException {
  const status = HttpStatus.PAYMENT_REQUIRED;
  return new HttpException(
    { statusCode: status, error: 'Payment Required', message: 'The account does not hold that much.' },
    status,
  );
}
