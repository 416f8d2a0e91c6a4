import { Controller, Post, Req, UploadedFile, UseInterceptors } from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { IdempotencyContext, Idempotent } from 'nestjs-idempotency';

import { Ledger } from '../wire/ledger.js';
import { take } from './given.controller.js';
import { GivenByRun, type Seen } from './given.js';

/** Has an interceptor of Nest's read files, on Express, after the library's has let the request through. */
@Controller('files')
export class FilesController {
  constructor(
    private readonly ledger: Ledger,
    private readonly given: GivenByRun,
    private readonly context: IdempotencyContext,
  ) {}

  @Post()
  @Idempotent()
  @UseInterceptors(FileInterceptor('file'))
  file(@Req() { headers, params, query }: Seen, @UploadedFile() file: { readonly buffer: Buffer }) {
    return take(this.ledger, this.given, this.context, { headers, params, query, body: file.buffer });
  }
}
