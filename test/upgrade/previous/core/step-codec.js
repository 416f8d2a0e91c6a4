import { decodeValue, encodeValue } from './value-codec.js';
export const STEP_CODEC_VERSION = 1;
export function encodeStepResult(result) {
    const value = result.kind === 'succeeded' ? result.value : { message: result.message, details: result.details };
    return JSON.stringify([STEP_CODEC_VERSION, result.kind, encodeValue(value)]);
}
export function decodeStepResult(text) {
    const [version, kind, encoded] = JSON.parse(text);
    if (version !== STEP_CODEC_VERSION) {
        throw new Error(`The result of a step is kept in version ${version}, which this version of the library cannot read.`);
    }
    const value = decodeValue(encoded);
    return kind === 'succeeded' ? { kind, value } : { kind, ...value };
}
