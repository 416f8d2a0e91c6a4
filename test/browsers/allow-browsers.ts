import type { INestApplication } from '@nestjs/common';
import { idempotencyCors } from 'nestjs-idempotency';

export function allowBrowsers(app: INestApplication): void {
  app.enableCors({ origin: 'https://shop.example', ...idempotencyCors() });
}

/** The same for an application that has lists of its own. */
export function allowBrowsersAndMore(app: INestApplication): void {
  app.enableCors({
    origin: 'https://shop.example',
    ...idempotencyCors({ allowedHeaders: ['Authorization'], exposedHeaders: ['X-Request-Id'] }),
  });
}
