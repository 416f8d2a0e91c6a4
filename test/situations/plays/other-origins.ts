import { idempotencyCors } from 'nestjs-idempotency';

import type { Situation } from '../situation.js';

const ORIGIN = 'https://shop.example';

export const otherOrigins: Situation = {
  page: 'other-origins',
  promise: 'lets a page of another origin send a key, and see that it got a replay',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start({
      configure: (nest) =>
        nest.enableCors({
          origin: [ORIGIN],
          methods: ['POST'],
          ...idempotencyCors({ allowedHeaders: ['Authorization'] }),
        }),
    });
    await stage.exchange('preflight', app, {
      method: 'OPTIONS',
      key: null,
      apiKey: null,
      body: null,
      lines: [
        `Origin: ${ORIGIN}`,
        'Access-Control-Request-Method: POST',
        'Access-Control-Request-Headers: authorization,content-type,idempotency-key',
      ],
    });
    await stage.exchange('first', app, { lines: [`Origin: ${ORIGIN}`] });
    await stage.exchange('retry', app, { lines: [`Origin: ${ORIGIN}`] });
  },
};
