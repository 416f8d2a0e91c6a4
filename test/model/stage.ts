import { Injectable } from '@nestjs/common';
import type { EndingName } from './endings.js';
import { type Gate, gate } from './gate.js';

/** Where the handler of one attempt waits, and what it waits for. */
export interface Scene {
  /** The handler has written its row; the value is the backend its session runs on. */
  readonly entered: Gate<number>;
  /** The handler ends, in this way. */
  readonly ending: Gate<EndingName>;
  /** The application answers before the handler does. */
  readonly timeout: Gate<void>;
  /** The server has noticed that the client left. */
  readonly left: Gate<void>;
}

/** Where handlers stand until the test lets them go. */
@Injectable()
export class Stage {
  private readonly scenes = new Map<string, Scene>();

  sceneOf(attempt: string): Scene {
    let scene = this.scenes.get(attempt);
    if (!scene) {
      scene = { entered: gate(), ending: gate(), timeout: gate(), left: gate() };
      this.scenes.set(attempt, scene);
    }
    return scene;
  }
}
