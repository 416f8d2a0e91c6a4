import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '../database/test-database.js';
import { until } from '../protocol/until.js';
import { Book } from './book.js';
import { type Running, startDemo } from './process.js';
import { pay } from './request.js';

let database: TestDatabase;
let book: Book;
let stopping: Running;
let next: Running | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  stopping = await startDemo(database.url);
  book = await Book.open(database.url);
}, 60_000);

afterAll(async () => {
  await Promise.all([stopping?.kill(), next?.kill()]);
  await book?.close();
  await database?.drop();
}, 30_000);

it('a process that is asked to end takes nothing new, finishes and records what it has begun, and leaves no session', async () => {
  const request = { key: randomUUID(), amount: 4_711 };
  const letGo = await book.lockAccounts();
  const answering = pay(stopping.port, request);
  await book.untilSomebodyWaits();

  const gone = stopping.terminate();
  // A retry is told to come back; once the process has heard that it is to end, for another reason.
  await until('it has heard', async () => (await pay(stopping.port, request)).status === 503);
  const refused = await pay(stopping.port, { key: randomUUID(), amount: 4_712 });
  expect(refused).toMatchObject({ status: 503, code: 'idempotency-shutting-down' });
  expect(refused.raw).toMatch(/^Retry-After: 1$/im);

  await letGo();
  const answer = await answering;
  expect(answer).toMatchObject({ status: 201, isReplay: false });
  await gone;
  await until('its sessions are over', async () => (await book.sessions()) === 0);
  expect(await book.record(request)).toEqual({ state: 'completed', is_live: null });
  await book.expectPaidOnce(request);
  expect(await book.payments({ key: '', amount: 4_712 })).toBe(0);

  next = await startDemo(database.url);
  expect(await pay(next.port, request)).toMatchObject({ status: 201, isReplay: true, body: answer.body });
}, 60_000);
