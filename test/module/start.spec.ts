import {
  All,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Get,
  Head,
  Injectable,
  Module,
  type ModuleMetadata,
  type NestInterceptor,
  Next,
  Options,
  Post,
  Redirect,
  Render,
  Res,
  Sse,
} from '@nestjs/common';
import { APP_INTERCEPTOR, NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  IdempotencyModule,
  type IdempotencyModuleOptions,
  Idempotent,
  type IdempotentOptions,
} from 'nestjs-idempotency';
import { EMPTY, type Observable } from 'rxjs';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { eventually } from './gate.js';
import { listen, Logbook } from './listening.js';
import { Payment } from './payment.entity.js';
import { dataSourceOptions, prepareDatabase } from './work-app.js';
import { Witness } from './witness.js';

jest.setTimeout(60_000);

let database: TestDatabase;
let empty: TestDatabase;
let witness: Witness;

beforeAll(async () => {
  database = await createTestDatabase();
  empty = await createTestDatabase();
  await prepareDatabase(database.url);
  witness = await Witness.of(database.url);
});

afterAll(async () => {
  await witness?.close();
  await database?.drop();
  await empty?.drop();
});

interface Attempt {
  readonly url?: string;
  readonly idempotency?: IdempotencyModuleOptions;
  readonly typeorm?: Record<string, unknown>;
  readonly module?: ModuleMetadata;
  readonly logbook?: Logbook;
}

/** Starts an application and stops it; rejects with what it refuses to start for. */
async function start(attempt: Attempt): Promise<void> {
  const { url, idempotency = { singleTenant: true }, typeorm, module = {}, logbook } = attempt;
  @Module({
    ...module,
    imports: [
      TypeOrmModule.forRoot({ ...dataSourceOptions(url ?? database.url, typeorm), retryAttempts: 0 }),
      IdempotencyModule.forRoot(idempotency),
      ...(module.imports ?? []),
    ],
  })
  class Root {}
  const { app } = await listen(Root, { ...(logbook && { logbook }) });
  await app.close();
}

async function refusal(attempt: Attempt): Promise<string> {
  return start(attempt).then(
    () => 'It started.',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

/** The sessions of applications that refused to start. */
async function sessions(): Promise<number> {
  const [row] = await witness.rows<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
  return row!.count;
}

/** Takes the method away and puts another in its place, as careless decorators do. */
const replaced: MethodDecorator = (_, __, descriptor) => {
  const original = descriptor.value as unknown as (...args: unknown[]) => unknown;
  const around = function (this: unknown, ...args: unknown[]): unknown {
    return original.apply(this, args);
  };
  // What Nest itself left is kept, so that the route goes on working.
  for (const name of ['path', 'method']) {
    Reflect.defineMetadata(name, Reflect.getMetadata(name, original) as unknown, around);
  }
  return { ...descriptor, value: around as never };
};

/** The same with all metadata kept, as tracing libraries do. */
const traced: MethodDecorator = (_, __, descriptor) => {
  const original = descriptor.value as unknown as (...args: unknown[]) => unknown;
  const around = function (this: unknown, ...args: unknown[]): unknown {
    return original.apply(this, args);
  };
  for (const name of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(name, Reflect.getMetadata(name, original) as unknown, around);
  }
  return { ...descriptor, value: around as never };
};

describe('a handler that cannot be protected keeps the application from starting', () => {
  @Controller('safe')
  class Safe {
    @Get()
    @Idempotent()
    list(): void {}
  }

  @Controller('safe-below')
  class SafeBelow {
    @Idempotent()
    @Get()
    list(): void {}
  }

  @Controller('head')
  class HeadOnly {
    @Head()
    @Idempotent()
    look(): void {}
  }

  @Controller('options')
  class OptionsOnly {
    @Options()
    @Idempotent()
    ask(): void {}
  }

  @Controller('events')
  class Events {
    @Sse()
    @Idempotent()
    stream(): Observable<never> {
      return EMPTY;
    }
  }

  @Controller('next')
  class TakesNext {
    @Post()
    @Idempotent()
    pass(@Next() next: () => void): void {
      next();
    }
  }

  @Controller('unprotected')
  class Unprotected {
    @Post()
    @Idempotent({ required: false })
    write(@Res() response: { json(body: unknown): void }): void {
      response.json({});
    }
  }

  @Controller('late')
  class Late {
    @Post('redirect')
    @Redirect('/elsewhere')
    @Idempotent({ lateAnswer: 'value' })
    redirect(): void {}

    @Post('view')
    @Render('view')
    @Idempotent({ lateAnswer: 'value' })
    view(): void {}

    @Post('own')
    @Idempotent({ lateAnswer: 'value' })
    own(@Res() response: { json(body: unknown): void }): void {
      response.json({});
    }
  }

  @Controller('generator')
  class Generator {
    @Post()
    @Idempotent()
    async *generate(): AsyncGenerator<number> {
      yield await Promise.resolve(1);
    }
  }

  @Injectable()
  class Provider {
    @Idempotent()
    pay(): void {}
  }

  @Controller('no-route')
  class NoRoute {
    @Idempotent()
    pay(): void {}
  }

  @Controller('lost')
  class Lost {
    @replaced
    @Post()
    @Idempotent()
    pay(): void {}
  }

  @Controller('parent')
  class Parent {
    @Post()
    @Idempotent()
    pay(): void {}
  }

  @Controller('child')
  class Child extends Parent {
    @Post()
    override pay(): void {}
  }

  const optionsOf = (options: IdempotentOptions): ModuleMetadata => {
    @Controller('options')
    class WithOptions {
      @Post()
      @Idempotent(options)
      pay(): void {}
    }
    return { controllers: [WithOptions] };
  };

  it.each<[string, ModuleMetadata, RegExp]>([
    ['GET', { controllers: [Safe] }, /Safe\.list answers only methods that change nothing/],
    ['GET, decorated above', { controllers: [SafeBelow] }, /SafeBelow\.list answers only methods that change nothing/],
    ['HEAD', { controllers: [HeadOnly] }, /HeadOnly\.look answers only methods that change nothing/],
    ['OPTIONS', { controllers: [OptionsOnly] }, /OptionsOnly\.ask answers only methods that change nothing/],
    ['@Sse()', { controllers: [Events] }, /Events\.stream .*(event stream|change nothing)/],
    ['@Next()', { controllers: [TakesNext] }, /TakesNext\.pass takes @Next\(\)/],
    ['its own response without a key', { controllers: [Unprotected] }, /Unprotected\.write writes its own response/],
    ['a late answer that is a redirect', { controllers: [Late] }, /Late\.redirect does not answer with its value/],
    ['a late answer that is a view', { controllers: [Late] }, /Late\.view does not answer with its value/],
    ['a late answer of its own', { controllers: [Late] }, /Late\.own does not answer with its value/],
    ['an isolation that a lease cannot have', optionsOf({ isolation: 'SERIALIZABLE' }), /`isolation` goes with `claim/],
    ['half a retry', optionsOf({ conflictRetries: 0.5 }), /`conflictRetries` must be a whole number/],
    ['no patience', optionsOf({ patienceMs: -1 }), /WithOptions\.pay .*`patience` must be a positive duration/],
    ['an async generator', { controllers: [Generator] }, /Generator\.generate is an async generator/],
    ['a method of a provider', { providers: [Provider] }, /Provider\.pay is neither an HTTP route of a controller nor/],
    [
      'a method without a route',
      { controllers: [NoRoute] },
      /NoRoute\.pay is neither an HTTP route of a controller nor/,
    ],
    ['a method that lost its decorator', { controllers: [Lost] }, /Lost\.pay lost its @Idempotent\(\)/],
    ['an override without the decorator', { controllers: [Child] }, /Child\.pay lost its @Idempotent\(\)/],
    ['a bad lease', optionsOf({ lease: 'soon' as '1s' }), /WithOptions\.pay .*`lease` must be a positive duration/],
    [
      'a retention of zero',
      optionsOf({ retentionMs: 0 }),
      /WithOptions\.pay .*`retention` must be a positive duration/,
    ],
    [
      'a retention shorter than its lease',
      optionsOf({ lease: '1h', retention: '1m' }),
      /WithOptions\.pay .*the retention \(60000 ms\) is shorter than the lease \(3600000 ms\)/,
    ],
    [
      'a retention shorter than the lease of the module',
      optionsOf({ retention: '1s' }),
      /WithOptions\.pay .*the retention \(1000 ms\) is shorter than the lease \(60000 ms\)/,
    ],
    [
      'a retention shorter than its work may take',
      optionsOf({ retention: '10m' }),
      /WithOptions\.pay .*the retention \(600000 ms\) is shorter than work may take, .*\(960000 ms\).*`renewFor` shorter/,
    ],
    ['a header that is never replayed', optionsOf({ replayHeaders: ['Set-Cookie'] }), /WithOptions\.pay .*set-cookie/i],
  ])('%s', async (_, module, message) => {
    expect(await refusal({ module })).toMatch(message);
    await eventually('no session is left', async () => (await sessions()) === 0);
  });

  it('names every one of them at once', async () => {
    const message = await refusal({ module: { controllers: [Safe, TakesNext], providers: [Provider] } });
    expect(message).toContain('Safe.list');
    expect(message).toContain('TakesNext.pass');
    expect(message).toContain('Provider.pay');
  });

  it('but one that a tracing library stands around, or that answers all methods, does not', async () => {
    @Controller('traced')
    class Traced {
      @traced
      @Post()
      @Idempotent()
      pay(): void {}

      @All('all')
      @Idempotent()
      any(): void {}
    }
    expect(await refusal({ module: { controllers: [Traced] } })).toBe('It started.');
  });
});

describe('options that cannot be right keep the application from starting', () => {
  it.each<[string, IdempotencyModuleOptions, RegExp]>([
    ['no tenant resolver', {}, /say whose keys are whose.*singleTenant: true/s],
    ['both ways', { singleTenant: true, tenant: () => 'a' }, /say whose keys are whose/],
    ['singleTenant: false', { singleTenant: false }, /say whose keys are whose/],
    ['a bad lease', { singleTenant: true, lease: '-1s' }, /`lease` must be a positive duration/],
    ['a lease that is no number', { singleTenant: true, leaseMs: NaN }, /`lease` must be a positive duration/],
    ['an infinite retention', { singleTenant: true, retentionMs: Infinity }, /`retention` must be a positive/],
    [
      'a retention shorter than the lease',
      { singleTenant: true, retention: '30s' },
      /the retention \(30000 ms\) is shorter than the lease \(60000 ms\)/,
    ],
    ['a bad acquire timeout', { singleTenant: true, acquireTimeout: '' as '1s' }, /`acquireTimeout` must be/],
    ['a bad statement timeout', { singleTenant: true, statementTimeoutMs: -5 }, /`statementTimeout` must be/],
    ['a bad renewal', { singleTenant: true, renewForMs: 0 }, /`renewFor` must be/],
    ['a bad shutdown timeout', { singleTenant: true, shutdownTimeout: 'never' as '1s' }, /`shutdownTimeout` must be/],
    ['a tiny recording limit', { singleTenant: true, recordingLimitBytes: 10 }, /`recordingLimitBytes` must be/],
    ['no recording limit at all', { singleTenant: true, recordingLimitBytes: NaN }, /`recordingLimitBytes` must be/],
    ['a mismatch that is a success', { singleTenant: true, mismatchStatus: 200 }, /`mismatchStatus` must be a client/],
    [
      'a header that is never replayed',
      { singleTenant: true, replayHeaders: ['Set-Cookie'] },
      /never replayed: set-cookie/i,
    ],
  ])('%s', async (_, idempotency, message) => {
    expect(await refusal({ idempotency })).toMatch(message);
  });

  it('a duration that is not a string of sane length', async () => {
    expect(await refusal({ idempotency: { singleTenant: true, lease: '1'.repeat(200) as '1s' } })).toMatch(/`lease`/);
  });
});

describe('a data source that cannot serve keeps the application from starting', () => {
  it('a missing migration, which is named', async () => {
    const message = await refusal({ url: empty.url });
    expect(message).toContain('table "idempotency_records" does not exist');
    expect(message).toContain('idempotencyMigrations');
    expect(message).toContain('migration:run');
  });

  it('missing entities, with the way to add them', async () => {
    const message = await refusal({ typeorm: { entities: [Payment] } });
    expect(message).toContain('does not know the entity IdempotencyRecord');
    expect(message).toContain('idempotencyEntities');
    expect(message).toContain('autoLoadEntities: true');
  });

  it('but entities that are loaded by themselves are enough', async () => {
    const typeorm = { entities: [Payment], autoLoadEntities: true };
    expect(await refusal({ typeorm })).toBe('It started.');
  });

  it('a data source of another name than the options say', async () => {
    const idempotency = { singleTenant: true, dataSource: 'ledger' };
    expect(await refusal({ idempotency })).toMatch(/ledger/i);
  });
});

describe('a module that is set up twice keeps the application from starting', () => {
  it('also with different options', async () => {
    const module = { imports: [IdempotencyModule.forRoot({ singleTenant: true, lease: '10s' })] };
    expect(await refusal({ module })).toMatch(/set up more than once.*forRoot/s);
  });

  it('also when one of them is set up asynchronously', async () => {
    const module = { imports: [IdempotencyModule.forRootAsync({ useFactory: () => ({ singleTenant: true }) })] };
    expect(await refusal({ module })).toMatch(/set up more than once/);
  });
});

describe('a server that cannot be held keeps the application from starting', () => {
  it('HTTP/2, with the way out', async () => {
    @Module({
      imports: [
        TypeOrmModule.forRoot({ ...dataSourceOptions(database.url), retryAttempts: 0 }),
        IdempotencyModule.forRoot({ singleTenant: true }),
      ],
    })
    class Root {}
    const adapter = new FastifyAdapter({ http2: true });
    const app = await NestFactory.create(Root, adapter, { abortOnError: false, logger: false });
    await expect(app.init()).rejects.toThrow(/does not work on an HTTP\/2 server.*the application HTTP\/1\.1/s);
    await app.close();
  });
});

describe('an application that starts is told at once what may surprise it', () => {
  @Injectable()
  class Outer implements NestInterceptor {
    intercept(_: ExecutionContext, next: CallHandler): Observable<unknown> {
      return next.handle();
    }
  }

  @Controller('orders')
  @Idempotent({ lateAnswer: 'value' })
  class Orders {
    @Get()
    list(): void {}

    @Post()
    create(): void {}
  }

  async function notes(module: ModuleMetadata): Promise<string[]> {
    const logbook = new Logbook();
    await start({ module, logbook });
    return logbook.lines.filter((line) => /idempotency interceptor|@Idempotent|lateAnswer/.test(line));
  }

  it('that a class-level decorator leaves its reads alone', async () => {
    expect(await notes({ controllers: [Orders] })).toEqual([
      expect.stringMatching(/Idempotent\(\) on Orders leaves the handlers that change nothing as they are: list\./),
    ]);
  });

  it('that interceptors stand outside, and which handlers would have to mind', async () => {
    const found = await notes({ controllers: [Orders], providers: [{ provide: APP_INTERCEPTOR, useClass: Outer }] });
    expect(found).toEqual([
      expect.stringContaining('Orders leaves'),
      expect.stringMatching(/outside the idempotency interceptor: Outer$/),
      expect.stringMatching(/Orders\.create records late answers .*Outer/),
    ]);
  });
});
