import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

import { IdempotencyError } from '../core/errors.js';
import type { Observation, Part } from '../core/observation.js';
import type { OutcomeName } from '../core/outcome.js';
import { ATTRIBUTES } from './metrics.js';

/** What only spans have, whose number may grow with the traffic. */
export const SPAN_ATTRIBUTES = {
  keyHash: 'idempotency.key_hash',
  attempts: 'idempotency.attempts',
  decision: 'idempotency.decision',
} as const;

const RECORDED: ReadonlySet<OutcomeName | undefined> = new Set(['executed', 'refused_on_record']);

/** Runs the parts of attempts in spans of their own. */
export class Traces {
  constructor(private readonly tracer: Tracer) {}

  /** A step belongs to whatever makes it; the other parts stand beside each other where the attempt arrived. */
  run<Result>(part: Part, observation: Observation, run: () => Promise<Result>): Promise<Result> {
    const isStep = typeof part === 'object';
    const parent = isStep ? context.active() : (observation.origin as Context);
    const span = this.tracer.startSpan(isStep ? `idempotency.step ${part.step}` : `idempotency.${part}`, {}, parent);
    const result = context.with(trace.setSpan(parent, span), run);
    return span.isRecording() ? ended(span, part, observation, result) : result;
  }
}

async function ended<Result>(
  span: Span,
  part: Part,
  observation: Observation,
  result: Promise<Result>,
): Promise<Result> {
  try {
    const value = await result;
    if (part === 'record' && !RECORDED.has(observation.ending?.outcome)) span.setStatus({ code: SpanStatusCode.ERROR });
    return value;
  } catch (error) {
    span.recordException(withoutSecrets(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.setAttributes(attributesOf(part, observation));
    span.end();
  }
}

/** Messages, stacks and codes of other people's errors may hold anything. */
function withoutSecrets(error: unknown): { name: string; code?: string } {
  const name = error instanceof Error ? error.name : typeof error;
  return error instanceof IdempotencyError ? { name, code: error.code } : { name };
}

function attributesOf(part: Part, observation: Observation): Attributes {
  const { channel, endpoint, keyHash, attempts, decision, ending } = observation;
  return {
    [ATTRIBUTES.channel]: channel,
    [ATTRIBUTES.endpoint]: endpoint,
    ...(keyHash !== undefined && { [SPAN_ATTRIBUTES.keyHash]: keyHash }),
    ...(attempts !== undefined && { [SPAN_ATTRIBUTES.attempts]: attempts }),
    ...(part === 'claim' && decision !== undefined && { [SPAN_ATTRIBUTES.decision]: decision }),
    ...(part === 'record' && ending && { [ATTRIBUTES.outcome]: ending.outcome }),
  };
}
