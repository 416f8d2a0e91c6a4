import { Injectable } from '@nestjs/common';
import { getDataSourceToken } from '@nestjs/typeorm';
import { ClsPluginTransactional, Propagation, Transactional, TransactionHost } from '@nestjs-cls/transactional';
import { TransactionalAdapterTypeOrm } from '@nestjs-cls/transactional-adapter-typeorm';
import { ClsModule } from 'nestjs-cls';
import { DataSource, type EntityManager } from 'typeorm';

import { Payment } from '../module/payment.entity.js';
import type { Clerk, Means } from './clerk.js';

@Injectable()
class ClsClerk implements Clerk {
  constructor(private readonly txHost: TransactionHost<TransactionalAdapterTypeOrm>) {}

  @Transactional()
  async pay(run: string, label: string): Promise<void> {
    await this.manager().insert(Payment, { run, label });
  }

  @Transactional(Propagation.Mandatory)
  async payInside(run: string, label: string): Promise<void> {
    await this.manager().insert(Payment, { run, label });
  }

  @Transactional(Propagation.Nested)
  async payNested(run: string, label: string, isFailing = false): Promise<void> {
    await this.manager().insert(Payment, { run, label });
    if (isFailing) throw new Error('The nested part failed.');
  }

  @Transactional(Propagation.RequiresNew)
  async payApart(run: string, label: string): Promise<void> {
    await this.manager().insert(Payment, { run, label });
  }

  manager(): EntityManager {
    return this.txHost.tx;
  }
}

export const cls: Means = {
  clerk: ClsClerk,
  imports: [
    ClsModule.forRoot({
      global: true,
      middleware: { mount: true },
      plugins: [
        new ClsPluginTransactional({
          adapter: new TransactionalAdapterTypeOrm({ dataSourceToken: getDataSourceToken() }),
        }),
      ],
    }),
  ],
  joinedBy: (work) => TransactionHost.getInstance().withTransaction(work),
  openDataSource: (options) => new DataSource(options),
};
