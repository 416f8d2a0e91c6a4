import { eventually } from '../../wire/gate.js';
import type { Situation } from '../situation.js';

export const patientDuplicate: Situation = {
  page: 'patient-duplicate',
  promise: 'has the duplicate wait without a connection, and gives it the recorded answer',
  ends: { runs: 1, payments: 1, records: ['completed'] },
  play: async (stage) => {
    const app = await stage.start({ idempotency: { patience: '1m' } });
    const first = await stage.begin('first', app, 'written');
    const duplicate = stage.exchange('duplicate', app);
    await eventually('the duplicate has looked, and given its connection back', async () => {
      const looking = await stage.witness.rows(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle'
           AND query ~ '^[[:space:]]*SELECT.*FROM "idempotency_records"'
           AND query_start > (SELECT locked_at FROM idempotency_records)`,
      );
      return looking.length > 0;
    });
    await first.finish();
    await duplicate;
  },
};
