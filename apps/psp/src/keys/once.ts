import { createHash } from 'node:crypto';
import { type DataSource, type EntityManager, QueryFailedError } from 'typeorm';
import type { Answer } from '../calls/answer.js';
import { KeptAnswer } from './kept-answer.entity.js';
import { keyInUse, keyReused } from './key-problems.js';

export interface KeyedRequest {
  readonly merchantId: string;
  readonly key: string;
  /** Everything that makes two requests the same, in an order of its own. */
  readonly asked: readonly unknown[];
}

/** How long a call waits for another with its key to commit before it is refused. */
const PATIENCE = '100ms';

const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Commits the work and its answer under the key in one transaction, or answers what is kept there. Without a key it
 * just commits the work. Throws a `ProblemException`, and commits nothing, when the key is in use or another request's.
 */
export function once(
  dataSource: DataSource,
  request: KeyedRequest | undefined,
  work: (manager: EntityManager) => Promise<Answer>,
): Promise<Answer> {
  return dataSource.transaction('READ COMMITTED', async (manager) => {
    if (!request) return work(manager);
    const requestSha256 = createHash('sha256').update(JSON.stringify(request.asked)).digest('hex');
    const { merchantId, key } = request;
    if (!(await claim(manager, merchantId, key, requestSha256))) {
      return keptAnswer(await manager.findOneByOrFail(KeptAnswer, { merchantId, key }), requestSha256);
    }
    const { status, body, ...rest } = await work(manager);
    await manager.update(KeptAnswer, { merchantId, key }, { status, body });
    return { status, body, ...rest };
  });
}

/**
 * Inserts the row that makes everybody else with this key wait, and returns whether that was possible: it is not when
 * a row is there for good. One that is not committed yet is waited for, but not for long.
 */
async function claim(manager: EntityManager, merchantId: string, key: string, requestSha256: string): Promise<boolean> {
  await manager.query(`SET LOCAL lock_timeout = '${PATIENCE}'`);
  try {
    const rows: unknown[] = await manager.query(
      `INSERT INTO kept_answers (merchant_id, key, request_sha256) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING key`,
      [merchantId, key, requestSha256],
    );
    // The effect may wait for its charge as long as it takes.
    await manager.query('SET LOCAL lock_timeout TO DEFAULT');
    return rows.length === 1;
  } catch (error) {
    if (codeOf(error) === LOCK_NOT_AVAILABLE) throw keyInUse();
    throw error;
  }
}

function keptAnswer({ requestSha256, status, body }: KeptAnswer, wanted: string): Answer {
  if (requestSha256 !== wanted) throw keyReused();
  return { status: status!, body: body!, isReplay: true };
}

const codeOf = (error: unknown): unknown =>
  error instanceof QueryFailedError ? (error.driverError as { code?: unknown }).code : undefined;
