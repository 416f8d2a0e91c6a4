import {
  BadRequestException,
  Body,
  ClassSerializerInterceptor,
  ConflictException,
  Controller,
  Delete,
  Header,
  HttpCode,
  HttpException,
  Patch,
  Post,
  Put,
  Redirect,
  StreamableFile,
  UnauthorizedException,
  UseFilters,
  UseInterceptors,
} from '@nestjs/common';
import { Idempotent } from 'nestjs-idempotency';
import { EMPTY, Observable, concatMap, delay, from, of, throwError } from 'rxjs';
import {
  AlreadyDone,
  AlreadyDoneFilter,
  Declined,
  DeclinedFilter,
  OutOfStock,
  OutOfStockFilter,
  Overloaded,
  OverloadedFilter,
} from './filters.js';
import { Ledger } from './ledger.js';
import { Account, BINARY, OVERSIZED, PAYMENT, circular, failingStreamOf, streamOf } from './payloads.js';

/** Every kind of answer that a handler can give without touching the response. */
@Controller('answers')
@UseFilters(OutOfStockFilter, DeclinedFilter, AlreadyDoneFilter, OverloadedFilter)
export class AnswersController {
  constructor(private readonly ledger: Ledger) {}

  @Post('json')
  @Idempotent()
  async json(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return PAYMENT;
  }

  @Post('synchronous')
  @Idempotent()
  synchronous(@Body('run') run: string): unknown {
    void this.ledger.write(run);
    return PAYMENT;
  }

  @Put('put')
  @Idempotent()
  async put(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return PAYMENT;
  }

  @Patch('patch')
  @Idempotent()
  async patch(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return [];
  }

  @Delete('delete')
  @Idempotent()
  async delete(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return {};
  }

  @Post('text')
  @Idempotent()
  async text(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return 'Grüße, 世界';
  }

  @Post('empty-text')
  @Idempotent()
  async emptyText(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return '';
  }

  @Post('zero')
  @Idempotent()
  async zero(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return 0;
  }

  @Post('number')
  @Idempotent()
  async number(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return 12.5;
  }

  @Post('not-a-number')
  @Idempotent()
  async notANumber(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return NaN;
  }

  @Post('false')
  @Idempotent()
  async false(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return false;
  }

  @Post('true')
  @Idempotent()
  async true(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return true;
  }

  @Post('null')
  @Idempotent()
  async null(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return null;
  }

  @Post('undefined')
  @Idempotent()
  async undefined(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return undefined;
  }

  @Post('buffer')
  @Idempotent()
  async buffer(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return BINARY;
  }

  @Post('date')
  @Idempotent()
  async date(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { at: new Date(0) };
  }

  @Post('no-content')
  @HttpCode(204)
  @Idempotent()
  async noContent(@Body('run') run: string): Promise<void> {
    await this.ledger.write(run);
  }

  @Post('no-content-with-value')
  @HttpCode(204)
  @Idempotent()
  async noContentWithValue(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return PAYMENT;
  }

  @Post('reset-content')
  @HttpCode(205)
  @Idempotent()
  async resetContent(@Body('run') run: string): Promise<void> {
    await this.ledger.write(run);
  }

  @Post('not-modified')
  @HttpCode(304)
  @Idempotent()
  async notModified(@Body('run') run: string): Promise<void> {
    await this.ledger.write(run);
  }

  @Post('accepted')
  @HttpCode(202)
  @Idempotent()
  async accepted(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { state: 'accepted' };
  }

  @Post('refused-by-status')
  @HttpCode(422)
  @Idempotent()
  async refusedByStatus(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { refused: true };
  }

  @Post('failed-by-status')
  @HttpCode(502)
  @Idempotent()
  async failedByStatus(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { failed: true };
  }

  @Post('redirect')
  @Redirect('https://example.test/payments/42', 303)
  @Idempotent()
  async redirect(@Body('run') run: string): Promise<void> {
    await this.ledger.write(run);
  }

  @Post('redirect-elsewhere')
  @Redirect('https://example.test/payments', 302)
  @Idempotent()
  async redirectElsewhere(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { url: 'https://example.test/payments/43?ü=1', statusCode: 307 };
  }

  @Post('declared-headers')
  @Header('Cache-Control', 'no-store')
  @Header('Link', '</payments/42>; rel="self"')
  @Header('X-Declared', 'yes')
  @Idempotent()
  async declaredHeaders(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return PAYMENT;
  }

  @Post('declared-type')
  @Header('Content-Type', 'application/vnd.payment+json')
  @Idempotent()
  async declaredType(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return JSON.stringify(PAYMENT);
  }

  @Post('large')
  @Idempotent()
  async large(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { text: 'payment '.repeat(4096) };
  }

  @Post('file')
  @Idempotent()
  async file(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(BINARY, { type: 'application/x-binary', disposition: 'attachment; filename="b.bin"' });
  }

  @Post('file-stream')
  @Idempotent()
  async fileStream(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(streamOf('first,', 'second,', 'third'), { type: 'text/csv' });
  }

  @Post('file-stream-of-known-length')
  @Idempotent()
  async fileStreamOfKnownLength(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(streamOf('12345', '67890'), { type: 'text/csv', length: 10 });
  }

  @Post('empty-file-stream')
  @Idempotent()
  async emptyFileStream(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(streamOf());
  }

  @Post('file-failing-at-once')
  @Idempotent()
  async fileFailingAtOnce(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(failingStreamOf());
  }

  @Post('file-failing-half-way')
  @Idempotent()
  async fileFailingHalfWay(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    return new StreamableFile(failingStreamOf('first half,'));
  }

  @Post('oversized-file')
  @Header('Location', '/files/1')
  @Idempotent()
  async oversizedFile(@Body('run') run: string): Promise<StreamableFile> {
    await this.ledger.write(run);
    const pieces = Array.from({ length: 5 }, (_, piece) => OVERSIZED.subarray(piece * 65_536, (piece + 1) * 65_536));
    return new StreamableFile(streamOf(...pieces), { type: 'application/x-binary' });
  }

  @Post('oversized-text')
  @Idempotent()
  async oversizedText(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return OVERSIZED.toString('base64');
  }

  @Post('observable')
  @Idempotent()
  observable(@Body('run') run: string): Observable<unknown> {
    return from(this.ledger.write(run)).pipe(concatMap(() => of(PAYMENT)));
  }

  @Post('observable-of-several')
  @Idempotent()
  observableOfSeveral(@Body('run') run: string): Observable<unknown> {
    return from(this.ledger.write(run)).pipe(concatMap(() => of({ n: 1 }, { n: 2 }, { n: 3 }).pipe(delay(1))));
  }

  @Post('empty-observable')
  @Idempotent()
  emptyObservable(@Body('run') run: string): Observable<unknown> {
    return from(this.ledger.write(run)).pipe(concatMap(() => EMPTY));
  }

  @Post('promised-observable')
  @Idempotent()
  async promisedObservable(@Body('run') run: string): Promise<Observable<unknown>> {
    await this.ledger.write(run);
    return of({ promised: true });
  }

  @Post('erroring-observable')
  @Idempotent()
  erroringObservable(@Body('run') run: string): Observable<unknown> {
    return from(this.ledger.write(run)).pipe(concatMap(() => throwError(() => new ConflictException('observed'))));
  }

  @Post('observable-erroring-late')
  @Idempotent()
  observableErroringLate(@Body('run') run: string): Observable<unknown> {
    return new Observable((observer) => {
      void this.ledger.write(run).then(() => {
        observer.next({ n: 1 });
        setImmediate(() => observer.error(new Error('The observable broke.')));
      });
    });
  }

  @Post('bad-request')
  @Idempotent()
  async badRequest(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new BadRequestException({ message: ['amount must be positive'], error: 'Bad Request' });
  }

  @Post('bad-request-at-once')
  @Idempotent()
  badRequestAtOnce(@Body('run') run: string): unknown {
    void this.ledger.write(run).catch(() => undefined);
    throw new BadRequestException('at once');
  }

  @Post('unauthorized')
  @Idempotent()
  async unauthorized(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new UnauthorizedException();
  }

  @Post('conflict')
  @Idempotent()
  async conflict(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new ConflictException('taken');
  }

  @Post('too-many-requests')
  @Idempotent()
  async tooManyRequests(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new HttpException('slow down', 429);
  }

  @Post('unavailable')
  @Idempotent()
  async unavailable(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new HttpException({ out: 'of order' }, 503);
  }

  @Post('thrown-success')
  @Idempotent()
  async thrownSuccess(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new HttpException({ thrown: 'yet fine' }, 200);
  }

  @Post('thrown-error')
  @Idempotent()
  async thrownError(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new Error('boom');
  }

  @Post('thrown-string')
  @Idempotent()
  async thrownString(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what is thrown is the test
    throw 'a string';
  }

  @Post('thrown-undefined')
  @Idempotent()
  async thrownUndefined(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what is thrown is the test
    throw undefined;
  }

  @Post('thrown-status-of-no-kind')
  @Idempotent()
  async thrownStatusOfNoKind(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new HttpException('which status is this', 1000);
  }

  @Post('filtered')
  @Idempotent()
  async filtered(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new OutOfStock();
  }

  @Post('filtered-later')
  @Idempotent()
  async filteredLater(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new Declined();
  }

  @Post('filtered-to-success')
  @Idempotent()
  async filteredToSuccess(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new AlreadyDone();
  }

  @Post('filtered-to-unavailable')
  @Idempotent()
  async filteredToUnavailable(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    throw new Overloaded();
  }

  @Post('serialized-inside')
  @UseInterceptors(ClassSerializerInterceptor)
  @Idempotent()
  async serializedInside(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return new Account();
  }

  @Post('serialized-outside')
  @Idempotent()
  async serializedOutside(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { account: new Account() };
  }

  @Post('circular')
  @Idempotent()
  async circular(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return circular;
  }

  @Post('bigint')
  @Idempotent()
  async bigint(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return { amount: 10n };
  }

  @Post('failing-to-json')
  @Idempotent()
  async failingToJson(@Body('run') run: string): Promise<unknown> {
    await this.ledger.write(run);
    return {
      toJSON: () => {
        throw new Error('Not to be written down.');
      },
    };
  }
}
