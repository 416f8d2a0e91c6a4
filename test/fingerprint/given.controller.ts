import { Controller, Delete, Patch, Post, Req } from '@nestjs/common';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';

import { Ledger } from '../wire/ledger.js';
import { GivenByRun, type Seen } from './given.js';

/** Notes what a handler was given, and writes one row for its operation. */
export async function take(ledger: Ledger, given: GivenByRun, context: IdempotencyContext, seen: Seen) {
  given.note(seen);
  await ledger.write(context.operation!.key);
  return { run: seen.headers['x-run'] };
}

@Controller('given')
export class GivenController {
  constructor(
    private readonly ledger: Ledger,
    private readonly given: GivenByRun,
    private readonly context: IdempotencyContext,
  ) {}

  @Post(':id')
  @Idempotent()
  post(@Req() seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }

  @Patch(':id')
  @Idempotent({ endpoint: 'one name for two methods' })
  patch(@Req() seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }

  @Delete(':id')
  @Idempotent({ endpoint: 'one name for two methods' })
  delete(@Req() seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }

  @Post('moved/:id')
  @Idempotent({ endpoint: 'one name for two routes' })
  before(@Req() seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }

  @Post('moved-here/:id')
  @Idempotent({ endpoint: 'one name for two routes' })
  after(@Req() seen: Seen) {
    return take(this.ledger, this.given, this.context, seen);
  }

  /** Changes everything it was given. */
  @Post(':id/changed')
  @Idempotent()
  async change(@Req() seen: Seen) {
    const answer = await take(this.ledger, this.given, this.context, seen);
    Object.assign(seen.body as object, { amount: -1, changed: true });
    Object.assign(seen.params as object, { id: 'changed' });
    Object.assign(seen.query as object, { changed: '1' });
    Object.assign(seen.headers, { 'content-type': 'text/changed' });
    return answer;
  }
}
