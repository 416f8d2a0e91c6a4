import { Body, Controller, Module, Post } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import {
  IdempotencyModule,
  Idempotent,
  TransactionManager,
  idempotencyEntities,
  idempotencyMigrations,
} from 'nestjs-idempotency';
import { Column, Entity, EntityManager, MigrationInterface, PrimaryGeneratedColumn, QueryRunner } from 'typeorm';

@Entity('things')
export class Thing {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  name!: string;
}

export class CreateThings1767225600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('CREATE TABLE things (id serial PRIMARY KEY, name text NOT NULL)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE things');
  }
}

@Controller('things')
export class ThingsController {
  @Post()
  @Idempotent({ retention: '7d' })
  create(@Body() body: Pick<Thing, 'name'>, @TransactionManager() manager: EntityManager): Promise<Thing> {
    return manager.save(Thing, { name: body.name });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env.DATABASE_URL!,
      entities: [...idempotencyEntities, Thing],
      migrations: [...idempotencyMigrations, CreateThings1767225600000],
      migrationsRun: true,
    }),
    IdempotencyModule.forRoot({ singleTenant: true }),
  ],
  controllers: [ThingsController],
})
export class AppModule {}
