import type { Stage } from './stage.js';
import type { Ending } from './witness.js';

/** One page of docs/situations, and what proves it. */
export interface Situation {
  /** The page's name without its ending. */
  readonly page: string;
  /** What the library does here, as the title of a test. */
  readonly promise: string;
  /** What is in the tables in the end. */
  readonly ends: Ending;
  /**
   * Whether it kills a process, which takes a second or two. It is played on Express only then: what the survivors
   * answer, they answer in other situations as well.
   */
  readonly killsProcess?: true;
  /** Has every exchange that the page shows. */
  play(stage: Stage): Promise<void>;
}
