import { createInterface } from 'node:readline';

import { EXIT, misused, refused } from './failure.js';
import { tell } from './output.js';

export interface ConfirmOptions {
  readonly yes?: boolean;
}

/** Makes sure, before anything is looked at, that there is somebody to ask or nothing to ask. */
export function assertConfirmable({ yes = false }: ConfirmOptions): void {
  if (yes || process.stdin.isTTY) return;
  throw misused('This changes a record and asks first, and there is no terminal to ask on. Say --yes to have it done.');
}

/** Asks whether it is to be done; rejects unless the answer is `yes`. */
export async function confirm({ yes = false }: ConfirmOptions): Promise<void> {
  if (yes) return;
  process.once('SIGINT', endUnchanged);
  process.stderr.write('Type yes to go on: ');
  const given = await line();
  process.off('SIGINT', endUnchanged);
  if (given?.trim() !== 'yes') throw refused('not_confirmed', 'Nothing was changed.');
}

function endUnchanged(): void {
  tell('\nNothing was changed.');
  process.exit(EXIT.interrupted);
}

/** The next line from the terminal; null when there is none. */
async function line(): Promise<string | null> {
  // Not the editor: a terminal edits its line by itself, and its interrupt comes as a signal.
  const reader = createInterface({ input: process.stdin, terminal: false });
  try {
    return await new Promise((resolve) => {
      reader.once('line', resolve);
      reader.once('close', () => resolve(null));
    });
  } finally {
    reader.close();
  }
}
