import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  createParamDecorator,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  type PipeTransform,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { IdempotencyContext } from 'nestjs-idempotency';
import { type Observable } from 'rxjs';
import { rawOf, type Reply, runOf, scriptFor, scriptOf } from './script.js';

/** The run of the request. */
export const Run = createParamDecorator((_: unknown, context: ExecutionContext) => runOf(context));

@Injectable()
export class ScriptedGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const script = scriptFor(context);
    script.arrivals++;
    rawOf(context.switchToHttp().getResponse<Reply>()).once('close', () => script.closings++);
    return script.guard?.(context) ?? true;
  }
}

@Injectable()
export class ScriptedPipe implements PipeTransform<string> {
  async transform(run: string): Promise<string> {
    await scriptOf(run).pipe?.();
    return run;
  }
}

@Injectable()
export class InnerInterceptor implements NestInterceptor {
  constructor(private readonly context: IdempotencyContext) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return scriptFor(context).inner?.(next, this.context.manager) ?? next.handle();
  }
}

@Injectable()
export class OuterInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return scriptFor(context).outer?.(next) ?? next.handle();
  }
}

/** An error that the application answers in a way of its own. */
export class Mapped extends Error {
  constructor(
    readonly status: number,
    readonly body: unknown,
  ) {
    super('An error of the application.');
  }
}

/** An error that is not answered: the connection is closed. */
export class HungUp extends Error {}

@Injectable()
@Catch(Mapped, HungUp)
export class MappingFilter implements ExceptionFilter<Mapped | HungUp> {
  constructor(private readonly host: HttpAdapterHost) {}

  catch(error: Mapped | HungUp, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<Reply>();
    if (error instanceof Mapped) this.host.httpAdapter.reply(reply, error.body, error.status);
    else rawOf(reply).destroy();
  }
}
