import type { IncomingMessage } from 'node:http';

import { Controller, Post, Req } from '@nestjs/common';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';

import { Ledger } from '../wire/ledger.js';
import { take } from './given.controller.js';
import { GivenByRun, type Seen } from './given.js';

/** The request as Express has it, or as Fastify wraps it. */
type Upload = Seen & (IncomingMessage | { readonly raw: IncomingMessage });

/** Reads bodies itself, as those do who store files. */
@Controller('uploads')
export class UploadsController {
  constructor(
    private readonly ledger: Ledger,
    private readonly given: GivenByRun,
    private readonly context: IdempotencyContext,
  ) {}

  @Post('read-by-handler')
  @Idempotent()
  readByHandler(@Req() upload: Upload) {
    return this.read(upload);
  }

  @Post('named')
  @Idempotent({ fingerprint: (context) => context.switchToHttp().getRequest<Seen>().query })
  named(@Req() upload: Upload) {
    return this.read(upload);
  }

  private async read(upload: Upload) {
    const { headers, params, query } = upload;
    const chunks: Buffer[] = [];
    for await (const chunk of 'raw' in upload ? upload.raw : upload) chunks.push(chunk as Buffer);
    return take(this.ledger, this.given, this.context, { headers, params, query, body: Buffer.concat(chunks) });
  }
}
