/** Something that happens once, with what came of it, and that others can wait for. */
export interface Gate<T> {
  readonly passed: Promise<T>;
  open(value: T): void;
}

export function gate<T>(): Gate<T> {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => (open = resolve));
  return { passed, open };
}
