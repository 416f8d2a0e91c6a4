import 'reflect-metadata';

import { Controller, Header, Next, Post, Redirect, Render, Res, Sse, UseInterceptors, Version } from '@nestjs/common';
import { describe, expect, it } from '@jest/globals';
import { EMPTY, type Observable } from 'rxjs';

import {
  answersOtherwise,
  declaredHeaders,
  isRoute,
  isSafeRoute,
  isSse,
  routeVariant,
  takesNext,
  writesOwnResponse,
} from './route-metadata.js';

@Controller({ path: 'routes', host: 'api.test' })
class Routes {
  @Post()
  @Version('2')
  @Header('X-Kind', 'a')
  plain(): void {}

  @Post('own')
  own(@Res() _: unknown): void {}

  @Post('passthrough')
  passthrough(@Res({ passthrough: true }) _: unknown): void {}

  @Post('next')
  next(@Next() _: unknown): void {}

  @Sse('events')
  events(): Observable<never> {
    return EMPTY;
  }

  @Post('redirect')
  @Redirect('/there')
  redirect(): void {}

  @Post('view')
  @Render('view')
  view(): void {}

  @UseInterceptors()
  none(): void {}
}

const of = (name: keyof Routes) => Routes.prototype[name];

/** What Nest's decorators say is read under Nest's own names: each fact here is one that a decorator left. */
describe('the metadata of a route', () => {
  it('tells what is a route, and of which kind', () => {
    expect([isRoute(of('plain')), isRoute(of('none'))]).toEqual([true, false]);
    expect([isSse(of('events')), isSse(of('plain'))]).toEqual([true, false]);
    expect([isSafeRoute(of('events')), isSafeRoute(of('plain'))]).toEqual([true, false]);
  });

  it('tells who writes the answer', () => {
    expect(['own', 'passthrough', 'plain'].map((name) => writesOwnResponse(Routes, name))).toEqual([
      true,
      false,
      false,
    ]);
    expect(['next', 'plain'].map((name) => takesNext(Routes, name))).toEqual([true, false]);
    expect((['redirect', 'view', 'plain'] as const).map((name) => answersOtherwise(of(name)))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('tells the declared headers, the version and the host', () => {
    expect(declaredHeaders(of('plain'))).toEqual(['x-kind']);
    expect(routeVariant(Routes, of('plain'))).toBe(' @2 @api.test');
    expect(routeVariant(Routes, of('own'))).toBe(' @api.test');
  });
});
