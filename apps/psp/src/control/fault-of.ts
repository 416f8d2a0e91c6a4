import { type Fault, isWebhookFault } from '../faults/fault.js';
import { unreadableInput } from '../problems/invalid-input.js';
import type { ArmFault } from './arm-fault.dto.js';

const DETAILS = ['delayMs', 'at', 'attempts'] as const;
type Detail = (typeof DETAILS)[number];

/** Which details a kind has a use for. */
const DETAILS_OF: { readonly [Kind in Fault['kind']]?: readonly Detail[] } = {
  slow: ['delayMs'],
  rate_limited: ['delayMs'],
  hold: ['at'],
  late_webhook: ['delayMs'],
  lost_webhook: ['attempts'],
};

/** The fault that is asked for. Throws when it is asked for with what it would ignore, or where it cannot strike. */
export function faultOf(asked: ArmFault): Fault {
  const useless = DETAILS.filter((detail) => asked[detail] !== undefined && !DETAILS_OF[asked.kind]?.includes(detail));
  if (useless.length > 0) throw unreadableInput(`${asked.kind} has no use for ${useless.join(', ')}.`);

  const fault = withDetails(asked);
  if (isWebhookFault(fault) && asked.operation === 'lookup') throw unreadableInput('A lookup has no event.');
  return fault;
}

function withDetails({ kind, delayMs, at = 'before', attempts = 1 }: ArmFault): Fault {
  switch (kind) {
    case 'slow':
      return { kind, delayMs: delayMs ?? 1_000 };
    case 'rate_limited':
      return { kind, retryAfterS: Math.ceil((delayMs ?? 1_000) / 1_000) };
    case 'hold':
      return { kind, at };
    case 'late_webhook':
      return delayMs === undefined ? { kind } : { kind, delayMs };
    case 'lost_webhook':
      return { kind, attempts };
    default:
      return { kind };
  }
}
