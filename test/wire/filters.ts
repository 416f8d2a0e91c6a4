import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';

export class OutOfStock extends Error {}
export class Declined extends Error {}
export class AlreadyDone extends Error {}
export class Overloaded extends Error {}

/** Answers at once. */
@Injectable()
@Catch(OutOfStock)
export class OutOfStockFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(_: OutOfStock, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { problem: 'out of stock' }, 409);
  }
}

/** Answers some turns later. */
@Injectable()
@Catch(Declined)
export class DeclinedFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  async catch(_: Declined, host: ArgumentsHost): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { problem: 'declined' }, 402);
  }
}

/** Makes a success of an error. */
@Injectable()
@Catch(AlreadyDone)
export class AlreadyDoneFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(_: AlreadyDone, host: ArgumentsHost): void {
    this.host.httpAdapter.reply(host.switchToHttp().getResponse(), { done: 'already' }, 200);
  }
}

/** Answers with a server error of its own. */
@Injectable()
@Catch(Overloaded)
export class OverloadedFilter implements ExceptionFilter {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(_: Overloaded, host: ArgumentsHost): void {
    const { httpAdapter } = this.host;
    const response: unknown = host.switchToHttp().getResponse();
    httpAdapter.setHeader(response, 'Retry-After', '7');
    httpAdapter.reply(response, { problem: 'overloaded' }, 503);
  }
}
