import fc from 'fast-check';
import type { Attempt, Model, OperationRecord } from './model.js';
import { expectTables } from './tables.js';
import type { World } from './world.js';

/** One thing that happens, in the model and in the world; afterwards the tables are as the model says. */
export class Step implements fc.AsyncCommand<Model, World> {
  constructor(
    private readonly title: string,
    readonly check: (model: Readonly<Model>) => boolean,
    private readonly happen: (model: Model, world: World) => Promise<void>,
  ) {}

  async run(model: Model, world: World): Promise<void> {
    await this.happen(model, world);
    await expectTables(model, world);
  }

  toString(): string {
    return this.title;
  }
}

/** Something that happens to one of the attempts under way. */
export function happening(
  title: string,
  pick: number,
  isPossible: (attempt: Attempt, model: Readonly<Model>) => boolean,
  happen: (attempt: Attempt, model: Model, world: World) => Promise<void>,
): Step {
  const possible = (model: Readonly<Model>): Attempt[] =>
    model.underWay.filter((attempt) => isPossible(attempt, model));
  return new Step(
    title,
    (model) => possible(model).length > 0,
    (model, world) => happen(picked(possible(model), pick), model, world),
  );
}

/** Something that happens to one of the records. */
export function change(
  title: string,
  pick: number,
  isPossible: (record: OperationRecord) => boolean,
  happen: (record: OperationRecord, model: Model, world: World) => Promise<void>,
): Step {
  const possible = ({ records }: Readonly<Model>): OperationRecord[] => [...records.values()].filter(isPossible);
  return new Step(
    title,
    (model) => possible(model).length > 0,
    (model, world) => happen(picked(possible(model), pick), model, world),
  );
}

export function picked<T>(possible: readonly T[], pick: number): T {
  return possible[pick % possible.length]!;
}
