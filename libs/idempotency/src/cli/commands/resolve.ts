import type { Operation } from '../../core/operation.js';
import { resultOf, type StepOutcome } from '../../maintenance/resolve-step.js';
import { PostgresOutcomes } from '../../storage/postgres-outcomes.js';
import { misused, refused } from '../failure.js';
import { printable, spoken } from '../output.js';
import { change, type ChangeOptions } from './change.js';
import { found } from './found.js';

export interface ResolveOptions extends ChangeOptions {
  /** The value that the step is to give. */
  readonly happened?: unknown;
  readonly refused?: string;
  readonly didNotHappen?: boolean;
}

/** Puts on record what became of an outside call. */
export function resolve(operation: Operation, step: string, options: ResolveOptions): Promise<void> {
  const outcome = outcomeIn(options);
  const result = resultOf(outcome);
  return change(options, async ({ repair, dataSource }) => {
    const outcomes = new PostgresOutcomes(dataSource);
    const { record: seen, steps } = found(await repair.find(operation));
    const call = await outcomes.find(operation, step);
    if (call === null) {
      const names = steps.map(({ name }) => `'${printable(name)}'`).join(', ');
      throw refused(
        'not_found',
        `It has announced no such step. ${names === '' ? 'It has none.' : `It has: ${names}.`}`,
      );
    }
    if (call.isHeld) {
      const left = spoken(Math.max(seen.leaseLeftSeconds ?? 0, 0));
      throw refused('lease_is_live', `Somebody may be at work on it, or the call on its way, for another ${left}.`);
    }
    if (call.isKnown) throw refused('result_is_known', 'What became of this step is on record. Nothing was changed.');
    // Found one after the other: what was shown has to be what is changed.
    const isShown = call.token === seen.token && call.attempts === seen.attempts;
    return {
      seen,
      consequences: [
        `The step '${printable(step)}' was announced ${call.tries} time(s). ${CONSEQUENCES[outcome.kind]}`,
      ],
      make: async () => isShown && (await outcomes.put(call, result)),
      done: 'On record: the next retry, or the reconciler, goes on from there.',
    };
  });
}

const CONSEQUENCES: Record<StepOutcome['kind'], string> = {
  happened: 'It is recorded as having happened, with the value given: no attempt makes the call again.',
  refused: 'It is recorded as refused: every attempt is told so, and makes no call.',
  did_not_happen:
    'It is forgotten: THE NEXT ATTEMPT MAKES THE CALL AGAIN. If it has happened after all, it happens twice.',
};

function outcomeIn({ happened, refused: message, didNotHappen = false }: ResolveOptions): StepOutcome {
  const outcomes: StepOutcome[] = [
    ...(happened === undefined ? [] : [{ kind: 'happened', value: happened } as const]),
    ...(message === undefined ? [] : [{ kind: 'refused', message } as const]),
    ...(didNotHappen ? [{ kind: 'did_not_happen' } as const] : []),
  ];
  if (outcomes.length === 1) return outcomes[0]!;
  throw misused('Say what became of the step by one of --happened <json>, --refused <message> and --did-not-happen.');
}
