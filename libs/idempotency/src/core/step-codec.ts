import { decodeValue, encodeValue } from './value-codec.js';

/** What became of a step, as it is kept for later attempts. */
export type StepResult =
  | { readonly kind: 'succeeded'; readonly value: unknown }
  /** The provider refused for good: the same refusal is thrown on every attempt. */
  | { readonly kind: 'refused'; readonly message: string; readonly details: unknown };

/** The version of the form in which results are written; kept in the text, so that older rows can still be read. */
export const STEP_CODEC_VERSION = 1;

/**
 * Writes a result as text; see `encodeValue()` for what is kept of it.
 *
 * @throws {TypeError} for what cannot be kept: functions, symbols, and values that contain themselves.
 */
export function encodeStepResult(result: StepResult): string {
  const value = result.kind === 'succeeded' ? result.value : { message: result.message, details: result.details };
  return JSON.stringify([STEP_CODEC_VERSION, result.kind, encodeValue(value)]);
}

/** @throws {Error} for a text in a version that is not known here. */
export function decodeStepResult(text: string): StepResult {
  const [version, kind, encoded] = JSON.parse(text) as [number, StepResult['kind'], unknown];
  if (version !== STEP_CODEC_VERSION) {
    throw new Error(
      `The result of a step is kept in version ${version}, which this version of the library cannot read.`,
    );
  }
  const value = decodeValue(encoded);
  return kind === 'succeeded' ? { kind, value } : { kind, ...(value as { message: string; details: unknown }) };
}
