/** Wakes somebody who waits, also when it was rung before he began to. */
export class Bell {
  private isRung = false;
  private wake = (): void => undefined;

  ring(): void {
    this.isRung = true;
    this.wake();
  }

  /** Resolves when the bell was rung since the last time, or the time is over; without a time it waits for the bell. */
  async rung(withinMs: number | undefined): Promise<void> {
    if (!this.isRung) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        if (withinMs !== undefined) timer = setTimeout(resolve, withinMs);
      });
      clearTimeout(timer);
    }
    this.isRung = false;
  }
}
