import { Module } from '@nestjs/common';
import { FaultQueue } from './fault-queue.js';
import { Holds } from './holds.js';

@Module({ providers: [FaultQueue, Holds], exports: [FaultQueue, Holds] })
export class FaultsModule {}
