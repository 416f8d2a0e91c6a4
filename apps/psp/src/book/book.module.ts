import { Module } from '@nestjs/common';
import { BookController } from './book.controller.js';

@Module({ controllers: [BookController] })
export class BookModule {}
