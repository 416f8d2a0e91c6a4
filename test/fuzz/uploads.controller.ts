import { Controller, Headers, Post, UploadedFile, UseInterceptors } from '@nestjs/common';
import { FileInterceptor } from '@nestjs/platform-express';
import { Idempotent } from 'nestjs-idempotency';
import { Effects } from './effects.js';

/** Reads multipart bodies, inside the library's interceptor. */
@Controller('uploads')
export class UploadsController {
  constructor(private readonly effects: Effects) {}

  @Post('by-digest')
  @Idempotent()
  @UseInterceptors(FileInterceptor('a'))
  byDigest(@Headers('x-mark') mark: string, @UploadedFile() file: unknown): Promise<unknown> {
    return this.did(mark, file);
  }

  @Post('by-key')
  @Idempotent({ fingerprint: () => 'whatever is in it' })
  @UseInterceptors(FileInterceptor('a'))
  byKey(@Headers('x-mark') mark: string, @UploadedFile() file: unknown): Promise<unknown> {
    return this.did(mark, file);
  }

  private async did(mark: string, file: unknown): Promise<unknown> {
    await this.effects.add(mark);
    return { mark, isFile: file !== undefined };
  }
}
