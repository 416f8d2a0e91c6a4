import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { ApiKeyGuard } from '../merchants/api-key.guard.js';
import { type AuthenticatedRequest, merchantOf } from '../merchants/current-merchant.js';
import { type Book, readBook } from './read-book.js';

/** No fault strikes here: whatever the calls were told, this is what happened. */
@Controller('book')
@UseGuards(ApiKeyGuard)
export class BookController {
  constructor(private readonly dataSource: DataSource) {}

  @Get()
  read(@Req() request: AuthenticatedRequest): Promise<Book> {
    return readBook(this.dataSource, merchantOf(request));
  }
}
