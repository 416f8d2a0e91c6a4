import { types } from 'node:util';
import { beginImplicitly, breakOff, tellClientLeft, tellEnded, tellOversized, tellUnseen, tryOut, } from './answering.js';
import { holdingOf } from './holding.js';
import { fateOf, fateOfAnswering } from './ownership.js';
import { letPass } from './passage.js';
import { hasFailedSource } from './piped-sources.js';
import { rehearse } from './rehearsal.js';
const { isUint8Array } = types;
export function write(...args) {
    const holding = holdingOf(this);
    switch (fateOfAnswering(holding)) {
        case 'pass':
            return holding.beneath.write.apply(this, args);
        case 'swallow':
            callBack(callbackOf(args));
            return true;
        case 'hold':
            return holdWrite(holding, args);
    }
}
export function end(...args) {
    const holding = holdingOf(this);
    switch (fateOfAnswering(holding)) {
        case 'pass':
            if (holding.phase !== 'foreign')
                return holding.beneath.end.apply(this, args);
            holding.hasEnded = true;
            return letPass(holding, () => holding.beneath.end.apply(this, args));
        case 'swallow':
            callBack(callbackOf(args));
            return this;
        case 'hold':
            holdEnd(holding, args);
            return this;
    }
}
export function destroy(...args) {
    const holding = holdingOf(this);
    const fate = fateOf(holding);
    if (fate === 'swallow')
        return this;
    if (fate === 'hold' && !this.destroyed) {
        if (holding.isTold || holding.hasEnded) {
            holding.calls.push({ method: 'destroy', args, bytes: null });
            return this;
        }
        if (!holding.handlerRuns || holding.options.isFromAttempt()) {
            const isFailure = args[0] !== undefined || hasFailedSource(holding);
            if (!isFailure)
                holding.destruction = args;
            breakOff(holding, 'destroyed', args[0]);
            return this;
        }
    }
    if (fate === 'hold' && this.destroyed && !holding.handlerRuns)
        giveUp(holding);
    return holding.beneath.destroy.apply(this, args);
}
function giveUp(holding) {
    if (holding.hasEnded)
        return;
    if (holding.head === null)
        tellUnseen(holding);
    else
        tellClientLeft(holding, holding.head);
}
function holdWrite(holding, args) {
    const { res } = holding;
    const [chunk, encoding] = args;
    const bytes = bytesOf(res, chunk, encoding);
    const original = typeof chunk === 'string' ? chunk : bytes;
    if (holding.hasEnded) {
        holding.calls.push({ method: 'write', args: withChunk(args, original), bytes: null });
        return false;
    }
    if (res.strictContentLength)
        tryOut(holding, 'write', [bytes]);
    const head = holding.head ?? beginImplicitly(holding);
    const isBody = !head.isBodiless;
    holding.calls.push({ method: 'write', args: [original, encodingOf(encoding)], bytes: isBody ? bytes : null });
    if (!isBody) {
        callBack(callbackOf(args));
        return true;
    }
    holding.sizeBytes += bytes.length;
    const isOver = holding.sizeBytes > holding.limitBytes;
    const callback = callbackOf(args);
    if (isOver && callback !== undefined)
        holding.waiting.push(callback);
    else
        callBack(callback);
    if (isOver)
        tellOversized(holding, head);
    return !isOver;
}
function holdEnd(holding, args) {
    const chunk = typeof args[0] === 'function' || !args[0] ? null : args[0];
    const bytes = chunk === null ? null : bytesOf(holding.res, chunk, args[1]);
    const call = { method: 'end', args: isUint8Array(chunk) ? withChunk(args, bytes) : args, bytes };
    if (holding.hasEnded) {
        holding.calls.push({ ...call, bytes: null });
        return;
    }
    const hadBegun = holding.head !== null;
    if (holding.res.strictContentLength)
        tryOut(holding, 'end', bytes === null ? [] : [bytes]);
    const head = holding.head ?? beginImplicitly(holding);
    holding.calls.push(head.isBodiless ? { ...call, bytes: null } : call);
    if (!head.isBodiless)
        holding.sizeBytes += bytes?.length ?? 0;
    holding.hasEnded = true;
    tellEnded(holding, head, hadBegun);
}
function bytesOf(res, chunk, encoding) {
    if (typeof chunk === 'string')
        return Buffer.from(chunk, encodingOf(encoding));
    if (!isUint8Array(chunk))
        rehearse(res).write(chunk);
    return Buffer.from(chunk);
}
function encodingOf(encoding) {
    return typeof encoding === 'string' && encoding !== '' ? encoding : 'utf8';
}
function withChunk(args, chunk) {
    return [chunk, ...args.slice(1)];
}
function callbackOf(args) {
    return args.find((arg) => typeof arg === 'function');
}
function callBack(callback) {
    if (callback !== undefined)
        process.nextTick(callback);
}
