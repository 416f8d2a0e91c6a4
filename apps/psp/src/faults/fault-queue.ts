import { Injectable } from '@nestjs/common';
import type { Call } from '../calls/call.js';
import type { Operation } from '../calls/operation.js';
import { type CallFault, type Fault, isWebhookFault, type WebhookFault } from './fault.js';

/** Which calls a fault is meant for. */
export interface Aim {
  /** `any` is any operation but a lookup. */
  readonly operation: Operation | 'any';
  /** Only calls about this reference. */
  readonly reference: string | undefined;
}

export interface ArmedFault {
  readonly id: string;
  readonly aim: Aim;
  readonly fault: Fault;
  /** How many more calls it strikes. */
  readonly left: number;
}

/** The faults in the order in which they were armed. A call takes the first that is meant for it, and no other. */
@Injectable()
export class FaultQueue {
  private armed: ArmedFault[] = [];
  private count = 0;

  arm(aim: Aim, fault: Fault, times: number): ArmedFault {
    const armed = { id: `fault_${++this.count}`, aim, fault, left: times };
    this.armed.push(armed);
    return armed;
  }

  takeForCall(call: Call): CallFault | undefined {
    return this.take(call, (fault): fault is CallFault => !isWebhookFault(fault));
  }

  /** For the event of a call, besides what the call itself has taken. */
  takeForEvent(call: Call): WebhookFault | undefined {
    return this.take(call, isWebhookFault);
  }

  list(): readonly ArmedFault[] {
    return this.armed;
  }

  clear(): void {
    this.armed = [];
  }

  private take<F extends Fault>(call: Call, isWanted: (fault: Fault) => fault is F): F | undefined {
    for (const [at, { fault, aim, left, ...rest }] of this.armed.entries()) {
      if (!isWanted(fault) || !isMeantFor(aim, call)) continue;
      this.armed.splice(at, 1, ...(left > 1 ? [{ ...rest, fault, aim, left: left - 1 }] : []));
      return fault;
    }
    return undefined;
  }
}

function isMeantFor({ operation, reference }: Aim, call: Call): boolean {
  const isOperation = operation === 'any' ? call.operation !== 'lookup' : call.operation === operation;
  return isOperation && (reference === undefined || call.references.includes(reference));
}
