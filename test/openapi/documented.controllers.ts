import { All, Body, Controller, Get, Headers, HttpCode, Patch, Post } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiBadRequestResponse,
  ApiCreatedResponse,
  ApiExtension,
  ApiHeader,
  ApiProperty,
  ApiResponse,
  ApiServiceUnavailableResponse,
} from '@nestjs/swagger';
import { Idempotent } from 'nestjs-idempotency';

import type { Gate } from '../module/gate.js';

export class Payment {
  @ApiProperty()
  id!: number;
}

export class ValidationError {
  @ApiProperty()
  message!: string;
}

/** Opened by the test that has a handler wait. */
export const gates = new Map<string, { readonly entered: Gate; readonly exit: Gate }>();

@Controller('payments')
export class PaymentsController {
  @Post()
  @ApiCreatedResponse({ type: Payment, description: 'The payment.' })
  @Idempotent()
  async create(@Body() body: object): Promise<Payment> {
    const waiting = gates.get((body as { gate?: string }).gate ?? '');
    waiting?.entered.open();
    await waiting?.exit.passed;
    return { id: 42 };
  }

  @Post('plain')
  @HttpCode(202)
  @Idempotent({ retention: '36h', lease: '90s' })
  plain(): string {
    return 'accepted';
  }

  @Post('optional')
  @Idempotent({ required: false })
  optional(): string {
    return 'done';
  }

  @Post('from-body')
  @Idempotent({ key: () => 'from the body' })
  fromBody(): string {
    return 'done';
  }

  @Post('guarded')
  @Idempotent({ authorizeReplay: () => true })
  guarded(): string {
    return 'done';
  }

  @Post('own-words')
  @ApiHeader({ name: 'idempotency-key', description: 'My words.', required: false, schema: { format: 'uuid' } })
  @ApiAcceptedResponse({ type: [Payment], headers: { ETag: { schema: { type: 'string' } } } })
  @ApiBadRequestResponse({ type: ValidationError, description: 'The amount is not positive.' })
  @ApiServiceUnavailableResponse({
    headers: { 'Retry-After': { description: 'My word.', schema: { type: 'string' } } },
    content: { 'application/problem+json': { schema: { type: 'object', title: 'Mine' } } },
  })
  @ApiResponse({ status: 422, description: 'Mine alone.' })
  @ApiResponse({ status: '4XX', description: 'Any other.' })
  @ApiExtension('x-idempotency', 'mine')
  @HttpCode(202)
  @Idempotent()
  ownWords(): string {
    return 'done';
  }

  @Post('reading-the-key')
  @Idempotent()
  readingTheKey(@Headers('idempotency-key') key: string): string {
    return key;
  }

  @All('any')
  @Idempotent()
  any(): string {
    return 'done';
  }

  @Get()
  list(): string {
    return 'all';
  }
}

@Controller('refunds')
@Idempotent()
export class RefundsController {
  @Post()
  create(): string {
    return 'done';
  }

  @Patch(':id')
  @Idempotent({ retention: '7d' })
  change(): string {
    return 'done';
  }

  @Get()
  list(): string {
    return 'all';
  }
}

/** Without a decorator of `@nestjs/swagger`: what it answers is known to the compiler plugin only. */
@Controller('compiled')
export class CompiledController {
  @Post()
  @Idempotent()
  create(): Payment {
    return { id: 42 };
  }
}
