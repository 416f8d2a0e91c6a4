import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { type OpenAPIObject, type OperationObject, SwaggerModule } from '@nestjs/swagger';
import { Validator } from '@seriousme/openapi-schema-validator';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { createDocumentedApp, createForeignApp, documentOf, PLATFORMS } from './documented-app.js';
import { CompiledController, Payment } from './documented.controllers.js';

jest.setTimeout(60_000);

const PROBLEM = { $ref: '#/components/schemas/IdempotencyProblem' };

const REPLAYED = {
  'Idempotent-Replayed': {
    description: 'Present where this is the recorded answer of an earlier request with the same key.',
    schema: { type: 'string', enum: ['true'] },
  },
};

const RETRY_AFTER = {
  'Retry-After': {
    description: 'After how many seconds to try again, with the same key.',
    schema: { type: 'integer', minimum: 1 },
  },
};

const LINK = {
  Link: {
    description:
      '`rel="related"` leads to the result of the operation, `rel="help"` to what there is to read about keys.',
    schema: { type: 'string' },
  },
};

/** The whole of what is said of a route that says nothing of itself. */
const PLAIN = {
  operationId: 'PaymentsController_plain',
  tags: ['Payments'],
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description:
        'Names the intended operation, which then happens at most once: a new unique value, such as a UUID, for each ' +
        'operation, and the same value for every retry of its request. 1 to 255 printable ASCII characters. ' +
        'A retry gets the recorded answer for 36 hours.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
    },
  ],
  responses: {
    202: { description: '', headers: REPLAYED },
    400: {
      description:
        'Idempotency key missing (`idempotency-key-missing`); Idempotency key invalid (`idempotency-key-invalid`); ' +
        'Payload invalid (`idempotency-payload-invalid`)',
      content: {
        'application/problem+json': {
          schema: PROBLEM,
          examples: {
            'idempotency-key-missing': {
              value: {
                type: 'urn:problem-type:idempotency-key-missing',
                title: 'Idempotency key missing',
                status: 400,
                detail: 'Idempotency key missing.',
                code: 'idempotency-key-missing',
                retryable: false,
              },
            },
            'idempotency-key-invalid': {
              value: {
                type: 'urn:problem-type:idempotency-key-invalid',
                title: 'Idempotency key invalid',
                status: 400,
                detail: 'Idempotency key invalid.',
                code: 'idempotency-key-invalid',
                retryable: false,
              },
            },
            'idempotency-payload-invalid': {
              value: {
                type: 'urn:problem-type:idempotency-payload-invalid',
                title: 'Payload invalid',
                status: 400,
                detail: 'Payload invalid.',
                code: 'idempotency-payload-invalid',
                retryable: false,
              },
            },
          },
        },
      },
    },
    409: {
      description:
        'Request in progress (`idempotency-request-in-progress`); ' +
        'Response unavailable (`idempotency-response-unavailable`)',
      headers: { ...RETRY_AFTER, ...LINK },
      content: {
        'application/problem+json': {
          schema: PROBLEM,
          examples: {
            'idempotency-request-in-progress': {
              value: {
                type: 'urn:problem-type:idempotency-request-in-progress',
                title: 'Request in progress',
                status: 409,
                detail: 'Request in progress.',
                code: 'idempotency-request-in-progress',
                retryable: true,
                retryAfter: 1,
              },
            },
            'idempotency-response-unavailable': {
              value: {
                type: 'urn:problem-type:idempotency-response-unavailable',
                title: 'Response unavailable',
                status: 409,
                detail: 'Response unavailable.',
                code: 'idempotency-response-unavailable',
                retryable: false,
                resource: '/payments/8231',
              },
            },
          },
        },
      },
    },
    415: {
      description: 'Payload unsupported (`idempotency-payload-unsupported`)',
      content: {
        'application/problem+json': {
          schema: PROBLEM,
          examples: {
            'idempotency-payload-unsupported': {
              value: {
                type: 'urn:problem-type:idempotency-payload-unsupported',
                title: 'Payload unsupported',
                status: 415,
                detail: 'Payload unsupported.',
                code: 'idempotency-payload-unsupported',
                retryable: false,
              },
            },
          },
        },
      },
    },
    422: {
      description: 'Idempotency key reused (`idempotency-key-reused`)',
      content: {
        'application/problem+json': {
          schema: PROBLEM,
          examples: {
            'idempotency-key-reused': {
              value: {
                type: 'urn:problem-type:idempotency-key-reused',
                title: 'Idempotency key reused',
                status: 422,
                detail: 'Idempotency key reused.',
                code: 'idempotency-key-reused',
                retryable: false,
              },
            },
          },
        },
      },
    },
    503: {
      description:
        'Work gave way (`idempotency-work-conflict`); Idempotency store unavailable (`idempotency-store-unavailable`); ' +
        'Shutting down (`idempotency-shutting-down`)',
      headers: RETRY_AFTER,
      content: {
        'application/problem+json': {
          schema: PROBLEM,
          examples: {
            'idempotency-work-conflict': {
              value: {
                type: 'urn:problem-type:idempotency-work-conflict',
                title: 'Work gave way',
                status: 503,
                detail: 'Work gave way.',
                code: 'idempotency-work-conflict',
                retryable: true,
                retryAfter: 1,
              },
            },
            'idempotency-store-unavailable': {
              value: {
                type: 'urn:problem-type:idempotency-store-unavailable',
                title: 'Idempotency store unavailable',
                status: 503,
                detail: 'Idempotency store unavailable.',
                code: 'idempotency-store-unavailable',
                retryable: true,
                retryAfter: 1,
              },
            },
            'idempotency-shutting-down': {
              value: {
                type: 'urn:problem-type:idempotency-shutting-down',
                title: 'Shutting down',
                status: 503,
                detail: 'Shutting down.',
                code: 'idempotency-shutting-down',
                retryable: true,
                retryAfter: 1,
              },
            },
          },
        },
      },
    },
  },
  'x-idempotency': { keyHeader: 'Idempotency-Key', required: true, retentionSeconds: 129_600, leaseSeconds: 90 },
};

let database: TestDatabase;
const apps: INestApplication[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(async () => {
  for (const app of apps) await app.close();
  await database?.drop();
});

/** An application that is closed when the tests are over. */
async function kept(creating: Promise<INestApplication>): Promise<INestApplication> {
  const app = await creating;
  apps.push(app);
  return app;
}

function operationIn({ paths }: OpenAPIObject, path: string, method = 'post'): OperationObject {
  return (paths[path] as Record<string, OperationObject>)[method]!;
}

/** Every object in it, itself included. */
function partsOf(whole: unknown): unknown[] {
  return typeof whole === 'object' && whole !== null ? [whole, ...Object.values(whole).flatMap(partsOf)] : [];
}

const headersOf = ({ parameters = [] }: OperationObject) =>
  parameters.map((parameter) => ('in' in parameter && parameter.in === 'header' ? parameter.name : parameter));

describe.each(PLATFORMS)('on %s', (platform) => {
  let app: INestApplication;
  let document: OpenAPIObject;
  const operation = (path: string, method?: string) => operationIn(document, path, method);

  beforeAll(async () => {
    app = await kept(createDocumentedApp({ platform, url: database.url }));
    document = documentOf(app);
  });

  it('describes a route that says nothing of itself, before the application listens', () => {
    expect(operation('/payments/plain')).toEqual(PLAIN);
  });

  it('describes the problem once, with every code there is', () => {
    expect(document.components!.schemas).toEqual({
      Payment: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] },
      ValidationError: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
      IdempotencyProblem: {
        type: 'object',
        description: 'An error answer (RFC 9457).',
        properties: {
          type: { type: 'string', format: 'uri-reference' },
          title: { type: 'string' },
          status: { type: 'integer' },
          detail: { type: 'string' },
          instance: { type: 'string', format: 'uri-reference', description: "The request's path." },
          code: {
            type: 'string',
            description: 'The stable name of the problem.',
            enum: expect.arrayContaining([
              'idempotency-key-missing',
              'idempotency-key-invalid',
              'idempotency-key-reused',
              'idempotency-payload-unsupported',
              'idempotency-payload-invalid',
              'idempotency-request-in-progress',
              'idempotency-response-unavailable',
              'idempotency-replay-forbidden',
              'idempotency-scope-unresolved',
              'idempotency-store-unavailable',
              'idempotency-shutting-down',
              'idempotency-work-broken',
              'idempotency-work-conflict',
              'idempotency-fingerprint-failed',
            ]),
          },
          reason: {
            type: 'string',
            description: 'A finer, equally stable name of what is wrong, such as `too_long`.',
          },
          retryable: { type: 'boolean', description: 'Whether the same request, sent again later, can succeed.' },
          retryAfter: { type: 'integer', description: 'In seconds; the same as the `Retry-After` header.' },
          resource: { type: 'string', format: 'uri-reference', description: "Where the operation's result lives." },
        },
        required: ['type', 'title', 'status', 'detail', 'code', 'retryable'],
      },
    });
  });

  it.each(['3.0.0', '3.1.0'] as const)('is valid as OpenAPI %s', async (version) => {
    const { paths, ...rest } = documentOf(app, version);
    // What the package itself writes for an @All() route, and no version of OpenAPI knows.
    delete (paths['/payments/any'] as Record<string, unknown>).search;
    expect(await new Validator().validate({ ...rest, paths })).toEqual({ valid: true });
  });

  it('keeps the type that the route gives its answer', () => {
    expect(operation('/payments').responses[201]).toEqual({
      description: 'The payment.',
      headers: REPLAYED,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Payment' } } },
    });
  });

  it('says of a key that is not required what happens without it, and not that it may be missing', () => {
    const { parameters, responses, 'x-idempotency': extension } = operation('/payments/optional') as Extended;
    expect(parameters).toEqual([
      expect.objectContaining({
        name: 'Idempotency-Key',
        required: false,
        description: expect.stringContaining('Without the header, a retry is an operation of its own.'),
      }),
    ]);
    expect(JSON.stringify(responses[400])).not.toContain('idempotency-key-missing');
    expect(JSON.stringify(responses[400])).toContain('idempotency-key-invalid');
    expect(extension).toEqual({
      keyHeader: 'Idempotency-Key',
      required: false,
      retentionSeconds: 86_400,
      leaseSeconds: 60,
    });
  });

  it('asks for no header where the key comes from elsewhere', () => {
    const { parameters, responses, 'x-idempotency': extension } = operation('/payments/from-body') as Extended;
    expect(parameters).toEqual([]);
    expect(Object.keys(responses)).toEqual(['201', '400', '409', '415', '422', '503']);
    expect(extension).toEqual({ required: true, retentionSeconds: 86_400, leaseSeconds: 60 });
  });

  it('tells of a refused replay only where one can be refused', () => {
    expect(operation('/payments/guarded').responses[403]).toMatchObject({
      description: 'Replay forbidden (`idempotency-replay-forbidden`)',
    });
    expect(operation('/payments').responses[403]).toBeUndefined();
  });

  it('covers the handlers of a decorated class that may change something, each with its own settings', () => {
    expect(operation('/refunds')).toMatchObject({ 'x-idempotency': { retentionSeconds: 86_400 } });
    expect(operation('/refunds/{id}', 'patch')).toMatchObject({ 'x-idempotency': { retentionSeconds: 604_800 } });
    expect(headersOf(operation('/refunds/{id}', 'patch'))).toEqual(['Idempotency-Key']);
  });

  it.each([
    ['/refunds', 'get'],
    ['/payments', 'get'],
    ['/payments/any', 'get'],
    ['/payments/any', 'head'],
    ['/payments/any', 'options'],
  ])('says nothing of %s by %s', (path, method) => {
    const { parameters, responses, ...rest } = operation(path, method);
    expect([parameters, Object.keys(responses)]).toEqual([[], ['200']]);
    expect(JSON.stringify([responses, rest])).not.toMatch(/idempoten/i);
  });

  it('describes the methods of an @All() route that may change something', () => {
    for (const method of ['post', 'put', 'patch', 'delete']) {
      expect(headersOf(operation('/payments/any', method))).toEqual(['Idempotency-Key']);
    }
  });

  it('takes a header that the handler reads for the key header, and documents it once', () => {
    expect(operation('/payments/reading-the-key').parameters).toEqual([
      {
        name: 'idempotency-key',
        in: 'header',
        required: true,
        description: expect.stringContaining('A retry gets the recorded answer for 1 day.'),
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ]);
  });

  describe('where a route documents the same things itself', () => {
    const own = () => operation('/payments/own-words') as Extended;

    it('keeps its words for the key, but not a word on whether it is required', () => {
      expect(own().parameters).toEqual([
        {
          name: 'idempotency-key',
          in: 'header',
          required: true,
          description: 'My words.',
          schema: { type: 'string', format: 'uuid', minLength: 1, maxLength: 255 },
        },
      ]);
    });

    it('keeps its success with type and headers, and adds the mark of a replay', () => {
      expect(own().responses[202]).toEqual({
        description: '',
        headers: { ...REPLAYED, ETag: { schema: { type: 'string' } } },
        content: {
          'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Payment' } } },
        },
      });
    });

    it('puts the problem beside its own answer of the same status', () => {
      expect(own().responses[400]).toEqual({
        description: `The amount is not positive.\n\n${PLAIN.responses[400].description}`,
        content: {
          'application/json': { schema: { $ref: '#/components/schemas/ValidationError' } },
          'application/problem+json': PLAIN.responses[400].content['application/problem+json'],
        },
      });
      expect(own().responses[422]).toEqual({
        description: `Mine alone.\n\n${PLAIN.responses[422].description}`,
        content: PLAIN.responses[422].content,
      });
    });

    it('leaves either possible where both are problems, and its own word on a header counts', () => {
      expect(own().responses[503]).toEqual({
        description: PLAIN.responses[503].description,
        headers: { 'Retry-After': { description: 'My word.', schema: { type: 'string' } } },
        content: {
          'application/problem+json': { schema: { anyOf: [{ type: 'object', title: 'Mine' }, PROBLEM] } },
        },
      });
    });

    it('touches neither its other answers nor its own extension', () => {
      expect(own().responses['4XX']).toEqual({ description: 'Any other.' });
      expect(own()['x-idempotency']).toBe('mine');
    });
  });

  it('loses no type that the compiler plugin found', async () => {
    const found = { CompiledController: { create: { type: Payment } } };
    await SwaggerModule.loadPluginMetadata(() =>
      Promise.resolve({ '@nestjs/swagger': { controllers: [[Promise.resolve({ CompiledController }), found]] } }),
    );
    expect(operationIn(documentOf(app), '/compiled').responses[201]).toEqual({
      description: '',
      headers: REPLAYED,
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Payment' } } },
    });
  });
});

describe('several applications in one process', () => {
  it('have documents by their own settings, in whatever order they are made', async () => {
    const [first, second] = [
      await kept(createDocumentedApp({ url: database.url, idempotency: { header: 'X-First-Key', retention: '2h' } })),
      await kept(
        createDocumentedApp({
          platform: 'fastify',
          url: database.url,
          idempotency: { header: 'X-Second-Key', retention: '3d' },
        }),
      ),
    ];
    const said = (app: INestApplication) => {
      const operation = operationIn(documentOf(app), '/payments') as Extended;
      return [headersOf(operation), (operation['x-idempotency'] as { retentionSeconds: number }).retentionSeconds];
    };
    expect([said(first), said(second), said(first)]).toEqual([
      [['X-First-Key'], 7_200],
      [['X-Second-Key'], 259_200],
      [['X-First-Key'], 7_200],
    ]);
  });

  it('say the same each time they are asked', async () => {
    const app = await kept(createDocumentedApp({ url: database.url }));
    expect(documentOf(app)).toEqual(documentOf(app));
  });

  it('may each change its document without changing another, or another part of it', async () => {
    const app = await kept(createDocumentedApp({ url: database.url }));
    const parts = [documentOf(app), documentOf(app)].flatMap((document) => {
      const { parameters, responses } = operationIn(document, '/payments/plain');
      const others = operationIn(document, '/payments/optional');
      const schema = document.components!.schemas!.IdempotencyProblem;
      return [parameters, responses, others.parameters, others.responses, schema].flatMap(partsOf);
    });
    expect(parts.length).toBeGreaterThan(100);
    expect(new Set(parts).size).toBe(parts.length);
  });

  it('leave one without the library as it was', async () => {
    documentOf(await kept(createDocumentedApp({ url: database.url })));
    const document = documentOf(await kept(createForeignApp()));
    expect(operationIn(document, '/refunds')).toEqual({
      operationId: 'RefundsController_create',
      tags: ['Refunds'],
      parameters: [],
      responses: { 201: { description: '' } },
    });
    expect(Object.keys(document.components!.schemas!)).toEqual(['Payment', 'ValidationError']);
  });
});

describe('the options of the module', () => {
  it('are what the document says: status of a reused key, base of the types, page about keys', async () => {
    const idempotency = {
      mismatchStatus: 409,
      problemTypeBase: 'https://errors.example/',
      docsUrl: 'https://docs.example/keys',
    };
    const document = documentOf(await kept(createDocumentedApp({ url: database.url, idempotency })));
    const { parameters, responses } = operationIn(document, '/payments');
    expect(parameters![0]).toMatchObject({ description: expect.stringContaining('See https://docs.example/keys.') });
    expect(responses[400]).toMatchObject({ headers: LINK });
    expect(responses[409]).toMatchObject({
      description: expect.stringContaining('Idempotency key reused (`idempotency-key-reused`)'),
      content: {
        'application/problem+json': {
          examples: {
            'idempotency-key-reused': {
              value: { type: 'https://errors.example/idempotency-key-reused', status: 409 },
            },
          },
        },
      },
    });
    expect(responses[422]).toBeUndefined();
  });
});

type Extended = OperationObject & { readonly 'x-idempotency': unknown };
