import { expect } from '@jest/globals';
import { aes256Gcm } from 'nestjs-idempotency';

import { OTHER_KEY } from '../request.js';
import type { Situation } from '../situation.js';

const SECRET = 'cs_test_a1B2c3D4e5F6g7H8';

export const secretAnswers: Situation = {
  page: 'secret-answers',
  promise: 'keeps no secret in the clear: not at all, or encrypted',
  ends: { runs: 2, payments: 2, records: ['completed', 'completed'] },
  play: async (stage) => {
    const protect = aes256Gcm({ keys: { '2026-11': Buffer.alloc(32, 7) }, current: '2026-11' });
    const statusOnly = await stage.start({ idempotency: { recording: 'status-only' } });
    const encrypted = await stage.start({ idempotency: { protect } });
    for (const { cues } of [statusOnly, encrypted]) cues.present = (payment) => ({ ...payment, clientSecret: SECRET });

    await stage.exchange('status-only', statusOnly);
    await stage.exchange('status-only-retry', statusOnly);
    await stage.exchange('protected', encrypted, { key: OTHER_KEY });
    await stage.exchange('protected-retry', encrypted, { key: OTHER_KEY });

    const kept = await stage.witness.rows(
      `SELECT octet_length(response_body) > 0 AS body, response_key_id AS key,
              position($1::bytea IN response_body) > 0 AS secret FROM idempotency_records ORDER BY created_at`,
      SECRET,
    );
    expect(kept).toEqual([
      { body: null, key: null, secret: null },
      { body: true, key: '2026-11', secret: false },
    ]);
  },
};
