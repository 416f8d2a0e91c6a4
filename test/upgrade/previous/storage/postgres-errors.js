export function sqlState(error) {
    if (typeof error !== 'object' || error === null)
        return undefined;
    const { code, severity, driverError } = error;
    if (typeof code === 'string' && typeof severity === 'string')
        return code;
    return driverError === undefined ? undefined : sqlState(driverError);
}
export const LOCK_NOT_AVAILABLE = '55P03';
export const IN_FAILED_TRANSACTION = '25P02';
const MAX_CAUSES = 5;
export function isConflict(error) {
    let at = error;
    for (let depth = 0; depth <= MAX_CAUSES; depth++) {
        const state = sqlState(at);
        if (state === '40001' || state === '40P01')
            return true;
        if (typeof at !== 'object' || at === null || !('cause' in at))
            return false;
        at = at.cause;
    }
    return false;
}
const STATEMENT_LOST = new Set(['26000', '0A000']);
export function isConnectionLost(error) {
    const state = sqlState(error);
    if (state === undefined || STATEMENT_LOST.has(state))
        return true;
    return state.startsWith('57P') || state.startsWith('08') || state === '25P03';
}
