import { storeUnavailable } from './errors.js';
import { uuidOf } from './provider-key.js';
import { encodeStepResult } from './step-codec.js';
export async function outcomeOf({ providerKey, tries, endsAt }, make, { deadlineMs, judge, whenUnknown }, lost) {
    const call = { providerKey, providerUuid: uuidOf(providerKey), tries };
    let mayHaveHappened = tries > 1;
    if (mayHaveHappened && whenUnknown !== 'repeat') {
        if (whenUnknown === 'hold')
            return { kind: 'unknown', error: undefined };
        try {
            const found = await within(deadlineMs, lost, (signal) => whenUnknown({ ...call, signal }));
            if (found !== undefined)
                return succeeded(found);
            mayHaveHappened = false;
        }
        catch (error) {
            return { kind: 'unknown', error };
        }
    }
    const noEffect = (error) => ({ kind: mayHaveHappened ? 'unknown' : 'no_effect', error });
    if (performance.now() + deadlineMs > endsAt)
        return noEffect(storeUnavailable(tooLate()));
    try {
        return succeeded(await within(deadlineMs, lost, (signal) => make({ ...call, signal })));
    }
    catch (error) {
        const failure = error instanceof DeadlineError || lost.aborted ? 'unknown' : judge(error);
        switch (failure) {
            case 'refused':
                return { kind: 'known', result: refusal(error), cause: error };
            case 'no_effect':
                return noEffect(error);
            case 'unknown':
                return { kind: 'unknown', error };
        }
    }
}
class DeadlineError extends Error {
    constructor() {
        super(...arguments);
        this.name = 'DeadlineError';
    }
}
function tooLate() {
    return new Error('It took too long to announce the call, which would outlive its claim; it was not made.');
}
function succeeded(value) {
    return { kind: 'known', result: { kind: 'succeeded', value } };
}
function refusal(error) {
    const message = error instanceof Error ? error.message : String(error);
    const details = typeof error === 'object' && error !== null && 'details' in error ? error.details : undefined;
    return { kind: 'refused', message, details: canBeKept(details) ? details : undefined };
}
function canBeKept(value) {
    try {
        encodeStepResult({ kind: 'succeeded', value });
        return true;
    }
    catch {
        return false;
    }
}
async function within(ms, lost, run) {
    lost.throwIfAborted();
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(new DeadlineError(`The call took longer than ${ms} ms.`)), ms);
    const onLost = () => over.abort(lost.reason);
    lost.addEventListener('abort', onLost);
    try {
        const ended = new Promise((_, reject) => {
            over.signal.addEventListener('abort', () => reject(over.signal.reason));
        });
        return await Promise.race([run(over.signal), ended]);
    }
    finally {
        clearTimeout(timer);
        lost.removeEventListener('abort', onLost);
    }
}
