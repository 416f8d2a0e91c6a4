import { run } from './run.js';

/**
 * Runs two commands, the second once the first `isReady`, until one of them ends or this process is interrupted. The
 * second is stopped before the first, which it may be using. Returns the exit code of the one that ended by itself; 0 when
 * both ended because this process was asked to.
 */
export async function runTogether({ first, isReady, second, interruption }) {
  const [firstEnd, secondEnd] = [new AbortController(), new AbortController()];
  const stopSecond = AbortSignal.any([interruption, firstEnd.signal]);
  const endings = [];
  const ended = (ending) => endings.push(ending);

  const running = run(first.command, first.args, { ...first.options, interruption: secondEnd.signal })
    .then(ended)
    .finally(() => firstEnd.abort());
  try {
    await isReady(stopSecond);
    ended(await run(second.command, second.args, { ...second.options, interruption: stopSecond }));
  } catch (error) {
    // It never began, because the first one had ended: that is the news.
    if (!firstEnd.signal.aborted) throw error;
  } finally {
    secondEnd.abort();
    await running;
  }
  return interruption.aborted ? (endings.map(codeWhenAsked).find(Boolean) ?? 0) : endings[0].exitCode;
}

/** Who was asked to end, and did so, ends by the signal that asked. */
const codeWhenAsked = ({ exitCode, signal }) => (signal !== null && signal !== 'SIGKILL' ? 0 : exitCode);
