import { restoreSnapshot } from './header-snapshot.js';
import { showHeadersSent } from './headers-sent.js';
import { letPass } from './passage.js';
import { isBodilessStatus } from './response-head.js';
const OF_THE_BODY = ['content-length', 'content-encoding', 'transfer-encoding', 'trailer'];
export function writeOwnAnswer(holding, answer, leftOut) {
    const { res, beneath } = holding;
    holding.phase = 'sealed';
    showHeadersSent(res);
    letPass(holding, () => {
        restoreSnapshot(res, beneath, holding.snapshot, new Set([...OF_THE_BODY, ...leftOut]));
        const replaced = new Set();
        for (const [name, value] of answer.headers) {
            const isRepeat = replaced.has(name.toLowerCase());
            beneath[isRepeat ? 'appendHeader' : 'setHeader'].call(res, name, value);
            replaced.add(name.toLowerCase());
        }
        res.statusCode = answer.status;
        res.statusMessage = '';
        const body = isBodilessStatus(answer.status) ? null : Buffer.from(answer.body ?? '');
        if (body !== null)
            beneath.setHeader.call(res, 'Content-Length', body.length);
        beneath.end.call(res, ...(body === null ? [] : [body]));
    });
}
