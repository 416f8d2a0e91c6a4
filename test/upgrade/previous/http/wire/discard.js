import { isHeadOut } from './headers-sent.js';
import { writeOwnAnswer } from './own-answer.js';
import { dropSources } from './piped-sources.js';
import { ignoreEvents } from './response-events.js';
export function discard(holding, problem) {
    const { res, destruction, beneath } = holding;
    if (holding.phase === 'passing' || holding.isSuperseded || isHeadOut(res))
        return;
    ignoreEvents(res);
    if (destruction === null)
        writeOwnAnswer(holding, problem, holding.options.declaredHeaders ?? []);
    else
        beneath.destroy.apply(res, destruction);
    letWritersFinish(holding);
}
function letWritersFinish(holding) {
    const { res, calls, waiting } = holding;
    holding.calls = [];
    holding.waiting = [];
    dropSources(holding);
    for (const { method, args } of calls) {
        if (method === 'end')
            waiting.push(...args.filter((arg) => typeof arg === 'function'));
    }
    for (const callback of waiting)
        process.nextTick(callback);
    if (holding.isOversized)
        process.nextTick(() => res.emit('drain'));
}
