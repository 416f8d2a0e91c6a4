import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './things.js';

export type Answer = {
  readonly status: number;
  readonly type: string | null;
  readonly replayed: string | null;
  readonly body: string;
};

type Post = (headers: Record<string, string>, body: string) => Promise<Answer>;

const JSON_BODY = { 'Content-Type': 'application/json' };

/** Posts one thing twice under one key, as a client does that missed the first answer. */
export function postTwice(name: string): Promise<Answer[]> {
  const body = JSON.stringify({ name });
  return posting((post) => inOrder([1, 2].map(() => () => post({ ...JSON_BODY, 'Idempotency-Key': name }, body))));
}

/** Posts without a key, and a body that nothing in the application reads. */
export function postAmiss(name: string): Promise<Answer[]> {
  return posting((post) =>
    inOrder([
      () => post(JSON_BODY, JSON.stringify({ name })),
      () => post({ 'Content-Type': 'application/xml', 'Idempotency-Key': name }, '<thing/>'),
    ]),
  );
}

async function posting(talk: (post: Post) => Promise<Answer[]>): Promise<Answer[]> {
  const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
  try {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    return await talk(async (headers, body) => {
      const response = await fetch(`http://127.0.0.1:${port}/things`, { method: 'POST', headers, body });
      return {
        status: response.status,
        type: response.headers.get('Content-Type'),
        replayed: response.headers.get('Idempotent-Replayed'),
        body: await response.text(),
      };
    });
  } finally {
    await app.close();
  }
}

async function inOrder(calls: (() => Promise<Answer>)[]): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const call of calls) answers.push(await call());
  return answers;
}
