import { takeSnapshot } from './header-snapshot.js';
import { heldCalls } from './held-calls.js';
import { layHolding } from './holding.js';
import { writeOwnAnswer } from './own-answer.js';
export const REPLAYED_HEADER = 'Idempotent-Replayed';
const UNWATCHED = {
    writesOwnResponse: false,
    isFromAttempt: () => false,
    onWorkOver: () => undefined,
    onAnswer: () => undefined,
    onForeign: () => undefined,
};
export function replayOf({ status, headers, body }) {
    return { status, headers: [...headers, [REPLAYED_HEADER, 'true']], body };
}
export function replay(res, answer, surroundings = {}) {
    const snapshot = takeSnapshot(res, surroundings.extraHeaders);
    const holding = layHolding(res, heldCalls, snapshot, 0, UNWATCHED);
    return new Promise((resolve) => {
        if (res.closed)
            resolve();
        res.once('finish', resolve).once('close', resolve);
        writeOwnAnswer(holding, answer, surroundings.declaredHeaders ?? []);
    });
}
