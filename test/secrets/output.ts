/** Everything this process writes, from the moment it is asked to listen until it is told to stop. */
export class Output {
  private readonly written: string[] = [];
  private readonly restore: (() => void)[] = [];

  static listen(): Output {
    const output = new Output();
    for (const stream of [process.stdout, process.stderr]) {
      const write = stream.write.bind(stream);
      stream.write = (chunk: string | Uint8Array) => {
        output.written.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('latin1'));
        return true;
      };
      output.restore.push(() => (stream.write = write));
    }
    for (const method of ['log', 'info', 'warn', 'error', 'debug', 'trace'] as const) {
      const original = console[method];
      console[method] = (...args: unknown[]) => void output.written.push(args.map(String).join(' '));
      output.restore.push(() => (console[method] = original));
    }
    return output;
  }

  get text(): string {
    return this.written.join('\n');
  }

  stop(): void {
    this.restore.splice(0).forEach((restore) => restore());
  }
}
