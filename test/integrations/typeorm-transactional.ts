import { Injectable } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type EntityManager, type Repository } from 'typeorm';
import {
  addTransactionalDataSource,
  initializeTransactionalContext,
  Propagation,
  runInTransaction,
  runOnTransactionCommit,
  runOnTransactionRollback,
  StorageDriver,
  Transactional,
} from 'typeorm-transactional';

import { Payment } from '../module/payment.entity.js';
import type { Clerk, Means } from './clerk.js';

initializeTransactionalContext({ storageDriver: StorageDriver.ASYNC_LOCAL_STORAGE });

@Injectable()
class RepositoryClerk implements Clerk {
  constructor(@InjectRepository(Payment) private readonly payments: Repository<Payment>) {}

  @Transactional()
  async pay(run: string, label: string): Promise<void> {
    await this.payments.insert({ run, label });
  }

  @Transactional({ propagation: Propagation.MANDATORY })
  async payInside(run: string, label: string): Promise<void> {
    await this.payments.insert({ run, label });
  }

  @Transactional({ propagation: Propagation.NESTED })
  async payNested(run: string, label: string, isFailing = false): Promise<void> {
    await this.payments.insert({ run, label });
    if (isFailing) throw new Error('The nested part failed.');
  }

  @Transactional({ propagation: Propagation.REQUIRES_NEW })
  async payApart(run: string, label: string): Promise<void> {
    await this.payments.insert({ run, label });
  }

  manager(): EntityManager {
    return this.payments.manager;
  }

  watch(tell: (end: string) => unknown): void {
    runOnTransactionCommit(() => tell('committed'));
    runOnTransactionRollback(() => tell('rolled back'));
  }
}

export const typeormTransactional: Means = {
  clerk: RepositoryClerk,
  imports: [TypeOrmModule.forFeature([Payment])],
  joinedBy: (work) => runInTransaction(work),
  openDataSource: (options) => addTransactionalDataSource(new DataSource(options)),
};
