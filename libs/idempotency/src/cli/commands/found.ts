import { refused } from '../failure.js';

/** What was found; rejects where nothing was. */
export function found<Found>(record: Found | null): Found {
  if (record !== null) return record;
  throw refused(
    'not_found',
    "There is no such record. Look at tenant, endpoint and key: `list --tenant … --endpoint …` shows them. What is in progress under `claim: 'transaction'` has no record yet.",
  );
}
