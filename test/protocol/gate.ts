/** A place where one side waits until the other lets it go on. */
export interface Gate {
  /** Resolves when somebody stands at it. */
  readonly reached: Promise<void>;
  /** Stands at it; resolves once it is opened, rejects once it failed. */
  passed(): Promise<void>;
  open(): void;
  fail(reason: Error): void;
}

export function gate(): Gate {
  let arrive: () => void;
  let open: () => void;
  let fail: (reason: Error) => void;
  const reached = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve, reject) => ([open, fail] = [resolve, reject]));
  opened.catch(() => undefined);
  return {
    reached,
    passed: () => {
      arrive();
      return opened;
    },
    open: () => open(),
    fail: (reason) => fail(reason),
  };
}
