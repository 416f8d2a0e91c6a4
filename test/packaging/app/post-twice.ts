import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './things.js';

export type Answer = { readonly status: number; readonly replayed: string | null; readonly body: string };

/** Starts the application and posts one thing twice under one key, as a client does that missed the first answer. */
export async function postTwice(name: string): Promise<[Answer, Answer]> {
  const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] });
  try {
    await app.listen(0, '127.0.0.1');
    const { port } = app.getHttpServer().address() as AddressInfo;
    const post = async (): Promise<Answer> => {
      const response = await fetch(`http://127.0.0.1:${port}/things`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': name },
        body: JSON.stringify({ name }),
      });
      const replayed = response.headers.get('Idempotent-Replayed');
      return { status: response.status, replayed, body: await response.text() };
    };
    return [await post(), await post()];
  } finally {
    await app.close();
  }
}
