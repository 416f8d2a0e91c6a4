import { deserialize, serialize } from 'node:v8';

import { Injectable } from '@nestjs/common';

/** What a handler was given, as it was at that moment: `-0`, undefined and bytes are told from what they resemble. */
export interface Given {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** What a handler can see of a request, whichever platform made it. */
export interface Seen extends Given {
  readonly headers: { readonly 'x-run'?: string };
}

/** Remembers what handlers were given, by the run of the request that brought it. */
@Injectable()
export class GivenByRun {
  private readonly snapshots = new Map<string, Buffer>();

  note({ headers, params, query, body }: Seen): void {
    this.snapshots.set(headers['x-run']!, serialize({ params: members(params), query: members(query), body }));
  }

  /** What the handler of this run was given; undefined if it was not run. */
  of(run: string): Given | undefined {
    const snapshot = this.snapshots.get(run);
    return snapshot && (deserialize(snapshot) as Given);
  }
}

/** Plain members, whatever prototype a framework has given them. */
function members(value: unknown): unknown {
  return Object.fromEntries(Object.entries(value as object));
}
