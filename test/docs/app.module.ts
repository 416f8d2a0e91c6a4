import { Module } from '@nestjs/common';

/** Stands for the application of whoever reads the examples. */
@Module({})
export class AppModule {}
