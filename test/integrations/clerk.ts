import type { ModuleMetadata, Type } from '@nestjs/common';
import type { TransactionOpener } from 'nestjs-idempotency';
import type { DataSource, DataSourceOptions, EntityManager } from 'typeorm';

/** A service whose transactions are managed by other means than the library's. */
export interface Clerk {
  /** Pays in the transaction there is, or in one of its own. */
  pay(run: string, label: string): Promise<void>;
  /** Pays in the transaction there is, and nowhere else. */
  payInside(run: string, label: string): Promise<void>;
  /** Pays in a transaction inside the one there is, and fails if told to. */
  payNested(run: string, label: string, isFailing?: boolean): Promise<void>;
  /** Pays in a transaction of its own, whatever there is. */
  payApart(run: string, label: string): Promise<void>;
  /** What it writes through. */
  manager(): EntityManager;
  /** Tells how the transaction there is has ended, where it can know. */
  watch?(tell: (end: string) => unknown): void;
}

/** One way of managing transactions, and how the library is told of it. */
export interface Means {
  readonly clerk: Type<Clerk>;
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly joinedBy: TransactionOpener;
  openDataSource(options: DataSourceOptions): DataSource;
}
