import { decide } from '../core/decision.js';
import { toRecord } from './record-row.js';
import { interval } from './statements.js';
export function takeRecord(attempt, isolation, taker) {
    return isolation === 'READ COMMITTED' ? look(attempt, taker) : reserve(attempt, taker);
}
export async function writeRecord({ statements, identity, attempt }, { connection, token, fingerprint }, answer) {
    const values = [...identity, fingerprint, token, interval(attempt.retentionMs), ...answer];
    return (await connection.run(statements.insert, values)).rowCount === 1;
}
async function look({ statements, identity }, { connection, fingerprint }) {
    const { rows } = await connection.run(statements.read, identity);
    const row = rows[0] ?? null;
    const found = toRecord(row);
    if (!isFree(found, fingerprint))
        return { attempts: null, found };
    return { attempts: row === null || row.is_expired ? 1 : row.attempts + 1, found };
}
async function reserve({ statements, identity, attempt }, { connection, token, fingerprint }) {
    const values = [...identity, fingerprint, token, interval(attempt.retentionMs)];
    const { rows } = await connection.run(statements.reserve, values);
    return { attempts: rows[0]?.attempts ?? null };
}
function isFree(record, fingerprint) {
    if (record?.state === 'in_progress' && record.hasSteps)
        return false;
    return decide(record, { fingerprint }).kind === 'claimable';
}
