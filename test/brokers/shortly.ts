import { setTimeout } from 'node:timers/promises';
import { until } from '../protocol/until.js';

const LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 50;

/** Looks now and then until it is so, and leaves the brokers time for their work in between. */
export function shortly(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  const look = async (): Promise<boolean> => {
    if (await isSo()) return true;
    await setTimeout(LOOK_EVERY_MS);
    return false;
  };
  return until(what, look, LIMIT_MS);
}
