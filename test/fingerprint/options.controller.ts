import { setImmediate } from 'node:timers/promises';

import { Controller, type ExecutionContext, ForbiddenException, Post, Req } from '@nestjs/common';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';

import { Ledger } from '../wire/ledger.js';
import { take } from './given.controller.js';
import { GivenByRun, type Seen } from './given.js';

interface Payment {
  readonly amount?: unknown;
  readonly note?: unknown;
}

const bodyOf = (context: ExecutionContext): Payment =>
  context.switchToHttp().getRequest<Seen & { body: Payment }>().body;

const cyclic: unknown[] = [];
cyclic.push(cyclic);

/** What functions return that cannot tell two requests apart. */
export const UNUSABLE: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  promise: () => Promise.resolve(undefined),
  function: () => () => 1,
  bigint: () => ({ amount: 1n }),
  cycle: () => cyclic,
  date: () => new Date(0),
  error: () => {
    throw new Error('The database of fingerprints is away.');
  },
  rejection: () => Promise.reject(new Error('The database of fingerprints is away.')),
};

/** One route for every choice of what makes two requests the same. */
@Controller('options/:id')
export class OptionsController {
  constructor(
    private readonly ledger: Ledger,
    private readonly given: GivenByRun,
    private readonly context: IdempotencyContext,
  ) {}

  @Post('headers')
  @Idempotent({ fingerprint: { headers: ['X-Version'] } })
  headers(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('pick')
  @Idempotent({ fingerprint: { pick: ['/amount', '/to/account', '/items/0'] } })
  pick(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('omit')
  @Idempotent({ fingerprint: { omit: ['/requestedAt', '/to/traceId', '/nowhere/at/all'] } })
  omit(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('raw')
  @Idempotent({ fingerprint: { body: 'raw' } })
  raw(@Req() seen: Seen) {
    return this.take(seen);
  }

  /** Has options of its own, none of them the module's. */
  @Post('own')
  @Idempotent({ fingerprint: {} })
  own(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('module')
  @Idempotent()
  module(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('function')
  @Idempotent({ fingerprint: (context) => ({ amount: bodyOf(context).amount, note: bodyOf(context).note }) })
  function(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('async')
  @Idempotent({
    fingerprint: async (context) => {
      await setImmediate();
      return Buffer.from(String(bodyOf(context).amount));
    },
  })
  async(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('unusable')
  @Idempotent({ fingerprint: (context) => UNUSABLE[String(bodyOf(context).note)]!() })
  unusable(@Req() seen: Seen) {
    return this.take(seen);
  }

  @Post('forbidden')
  @Idempotent({
    fingerprint: () => {
      throw new ForbiddenException('Not with this account.');
    },
  })
  forbidden(@Req() seen: Seen) {
    return this.take(seen);
  }

  private take(seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }
}
