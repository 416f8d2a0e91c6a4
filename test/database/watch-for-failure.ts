import { addEventHandler } from 'jest-circus';

/** Watches the tests of this spec file, from now on. */
export function watchForFailure(): { hasHappened(): boolean } {
  let hasFailed = false;
  addEventHandler((event) => {
    if (event.name === 'test_done' && event.test.errors.length > 0) hasFailed = true;
  });
  return { hasHappened: () => hasFailed };
}
