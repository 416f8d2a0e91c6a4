import { type Observation, outcomeEvent } from '../core/observation.js';
import type { Report } from '../core/ports.js';
import type { IdempotencyModuleOptions } from './options.js';

/** Tells the application's `onOutcome` what attempts come to; whatever that does changes nothing. */
export function outcomeListener(
  onOutcome: IdempotencyModuleOptions['onOutcome'],
  report: Report,
): ((observation: Observation) => void) | undefined {
  if (!onOutcome) return undefined;
  return (observation) => {
    const tell = async (): Promise<void> => {
      // What returns nothing may be an async function all the same.
      const telling: unknown = onOutcome(outcomeEvent(observation));
      await telling;
    };
    tell().catch((error: unknown) => {
      const { operation, endpoint } = observation;
      report('`onOutcome` failed; it changes nothing.', error, operation ?? { endpoint });
    });
  };
}
