import { RequestMethod, type Type } from '@nestjs/common';

/**
 * What becomes of a route's work.
 *
 * - `done`: committed once, and its answer replayed
 * - `refused`: undone, and its answer replayed
 * - `undone`: undone, and tried again by the retry
 * - `broken`: undone and tried again, and the torso it would have sent is kept back
 * - `oversized`: committed once, and its answer not kept
 */
export type Fate = 'done' | 'refused' | 'undone' | 'broken' | 'oversized';

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly fate: Fate;
}

/** Every route that is not named here is `done`. */
const FATES: Readonly<Record<Exclude<Fate, 'done'>, readonly string[]>> = {
  refused: ['bad-request', 'bad-request-at-once', 'conflict', 'erroring-observable', 'filtered', 'filtered-later'],
  undone: [
    'failed-by-status',
    'file-failing-at-once',
    'empty-observable',
    'observable-erroring-late',
    'unauthorized',
    'too-many-requests',
    'unavailable',
    'thrown-success',
    'thrown-error',
    'thrown-string',
    'thrown-undefined',
    'thrown-status-of-no-kind',
    'thrown-before-answer',
    'filtered-to-success',
    'filtered-to-unavailable',
    'circular',
    'bigint',
    'failing-to-json',
    'passthrough-failure',
    'invalid-header',
    'invalid-status',
    'invalid-reason',
    'destroyed',
  ],
  broken: ['file-failing-half-way', 'pipeline-failing', 'piped-failing-half-way', 'thrown-after-a-part'],
  oversized: ['oversized-file', 'oversized-text', 'oversized-pipeline', 'oversized-stream'],
};

/** The routes of a controller, read from what its decorators say. */
export function routesOf(controller: Type): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  const base = Reflect.getMetadata('path', controller) as string;
  return Object.getOwnPropertyNames(prototype)
    .filter((name) => name !== 'constructor')
    .map((name) => {
      const path = Reflect.getMetadata('path', prototype[name]!) as string;
      const method = RequestMethod[Reflect.getMetadata('method', prototype[name]!) as number]!;
      return { method, path: `/${base}/${path}`, fate: fateOf(path) };
    });
}

function fateOf(path: string): Fate {
  const named = Object.entries(FATES).find(([, paths]) => paths.includes(path));
  return (named?.[0] as Fate | undefined) ?? 'done';
}
