import { Interrupted, listenForInterruption } from './interruption.js';
import { Refusal } from './refusal.js';

/** Runs a script's body, which returns the exit code, and turns what it throws into a message and an exit code. */
export async function script(body) {
  const interruption = listenForInterruption();
  try {
    process.exitCode = await body(interruption);
  } catch (error) {
    // A terminal's Ctrl-C ends the helpers of this process too; their failure is not the news then.
    const cause = interruption.aborted ? interruption.reason : error;
    if (!(cause instanceof Interrupted)) console.error(cause instanceof Refusal ? `\n${cause.message}\n` : cause);
    process.exitCode = cause.exitCode ?? 1;
  }
}
