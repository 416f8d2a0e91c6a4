import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject, ResponseObject } from '@nestjs/swagger';
import { Ajv, type ValidateFunction } from 'ajv';

import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { gate } from '../module/gate.js';
import { createDocumentedApp, documentOf, PLATFORMS } from './documented-app.js';
import { gates } from './documented.controllers.js';

jest.setTimeout(60_000);

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase();
});

afterAll(() => database?.drop());

describe.each(PLATFORMS)('an answer on %s', (platform) => {
  let app: INestApplication;
  let document: OpenAPIObject;
  let fits: ValidateFunction;

  beforeAll(async () => {
    app = await createDocumentedApp({
      platform,
      url: database.url,
      idempotency: { docsUrl: 'https://docs.example/keys' },
    });
    document = documentOf(app);
    const schema = document.components!.schemas!.IdempotencyProblem!;
    // Nothing may be sent that is not described.
    fits = new Ajv({ validateFormats: false }).compile({ ...schema, additionalProperties: false });
    await app.listen(0);
  });

  afterAll(() => app?.close());

  function post(key: string | undefined, body: object): Promise<Response> {
    const { port } = app.getHttpServer().address() as AddressInfo;
    return fetch(`http://localhost:${port}/payments`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key !== undefined && { 'Idempotency-Key': key }) },
      body: JSON.stringify(body),
    });
  }

  /** What the document says of the answer's status, once it is certain that the answer is one of those described. */
  async function described(answer: Response, code: string): Promise<ResponseObject> {
    const response = document.paths['/payments']!.post!.responses[answer.status] as ResponseObject;
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/problem\+json/);
    const media = response.content!['application/problem+json']!;
    expect(media.schema).toEqual({ $ref: '#/components/schemas/IdempotencyProblem' });
    const problem = (await answer.json()) as object;
    expect(fits(problem) ? null : fits.errors).toBeNull();
    const { value: example } = media.examples![code] as { value: object };
    expect(problem).toMatchObject({ ...example, detail: expect.any(String), ...('retryAfter' in problem && RETRY) });
    return response;
  }

  const RETRY = { retryAfter: expect.any(Number) };

  it.each([
    ['a missing key', undefined, 'idempotency-key-missing', ['Link']],
    ['an invalid key', 'two words', 'idempotency-key-invalid', []],
  ])('to %s is as described', async (_, key, code, headers) => {
    const answer = await post(key, {});
    const response = await described(answer, code);
    for (const name of headers)
      expect([answer.headers.has(name), response.headers![name]]).toEqual([true, expect.anything()]);
  });

  it('to a reused key is as described', async () => {
    const key = randomUUID();
    await post(key, {});
    await described(await post(key, { other: true }), 'idempotency-key-reused');
  });

  it('to a duplicate of a request in progress is as described, with Retry-After', async () => {
    const key = randomUUID();
    const waiting = { entered: gate(), exit: gate() };
    gates.set(key, waiting);
    const first = post(key, { gate: key });
    await waiting.entered.passed;
    const answer = await post(key, { gate: key });
    waiting.exit.open();
    const { headers } = await described(answer, 'idempotency-request-in-progress');
    expect([Number.isInteger(Number(answer.headers.get('Retry-After'))), headers!['Retry-After']]).toEqual([
      true,
      expect.anything(),
    ]);
    expect((await first).status).toBe(201);
  });

  it('that is a replay carries the header as described', async () => {
    const key = randomUUID();
    const [first, replay] = [await post(key, {}), await post(key, {})];
    const { headers } = document.paths['/payments']!.post!.responses[201] as ResponseObject;
    const { schema } = headers!['Idempotent-Replayed'] as { schema: { enum: string[] } };
    expect(first.headers.has('Idempotent-Replayed')).toBe(false);
    expect(schema.enum).toEqual([replay.headers.get('Idempotent-Replayed')]);
  });
});
