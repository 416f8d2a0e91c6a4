import { isLetPass } from './passage.js';
export function fateOf(holding) {
    switch (holding.phase) {
        case 'holding':
            return 'hold';
        case 'passing':
            return 'pass';
        case 'foreign':
            return isLetPass(holding) || !isIntruding(holding) ? 'pass' : 'swallow';
        case 'sealed':
            return isLetPass(holding) ? 'pass' : 'swallow';
    }
}
export function fateOfAnswering(holding) {
    if (holding.phase === 'holding' && holding.head === null && holding.handlerRuns && !isOwn(holding)) {
        holding.phase = 'foreign';
        holding.isForeignFromAttempt = holding.options.isFromAttempt();
        holding.options.onForeign();
    }
    return fateOf(holding);
}
export function isOwn(holding) {
    return holding.options.writesOwnResponse && holding.options.isFromAttempt();
}
function isIntruding(holding) {
    return holding.hasEnded || (!holding.isForeignFromAttempt && holding.options.isFromAttempt());
}
