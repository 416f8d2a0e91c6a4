import { Module, ValidationPipe } from '@nestjs/common';
import { APP_FILTER, APP_PIPE } from '@nestjs/core';
import { invalidInput } from './invalid-input.js';
import { ProblemFilter } from './problem.filter.js';

@Module({
  providers: [
    { provide: APP_FILTER, useClass: ProblemFilter },
    {
      provide: APP_PIPE,
      useValue: new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, exceptionFactory: invalidInput }),
    },
  ],
})
export class ProblemsModule {}
