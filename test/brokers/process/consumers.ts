import type { ConsumerOptions, Settled } from './consumer-app.js';
import { ConsumerProcess } from './consumer-process.js';

/** The consumers of one queue, and one more that has loaded already and takes up its work when it is asked to. */
export class Consumers {
  private readonly running: ConsumerProcess[] = [];
  /** Of those that have ended. */
  private readonly settledBefore: Settled[] = [];
  private spare: Promise<ConsumerProcess>;

  constructor(private readonly options: ConsumerOptions) {
    this.spare = this.load();
  }

  /** Resolves when another one can be added without loading it first. */
  async ready(): Promise<void> {
    await this.spare;
  }

  async add(): Promise<ConsumerProcess> {
    const added = await this.spare;
    this.spare = this.load();
    await added.consume(this.options);
    this.running.push(added);
    return added;
  }

  /** The one that is left by the test before, or the first. */
  async one(): Promise<ConsumerProcess> {
    return this.running[0] ?? this.add();
  }

  async kill(consumer: ConsumerProcess): Promise<void> {
    await consumer.kill();
    this.remove(consumer);
  }

  async close(consumer: ConsumerProcess): Promise<void> {
    await consumer.close();
    this.remove(consumer);
  }

  async end(): Promise<void> {
    const spare = await this.spare.catch(() => undefined);
    await Promise.all([spare?.kill(), ...this.running.map((consumer) => consumer.kill())]);
  }

  /** How many deliveries all of them together have settled so. */
  settled(kind: Settled['kind'], how?: string): number {
    const all = [this.settledBefore, ...this.running.map((consumer) => consumer.settled)].flat();
    return all.filter((settled) => settled.kind === kind && (how === undefined || settled.how === how)).length;
  }

  private load(): Promise<ConsumerProcess> {
    const loading = ConsumerProcess.load(this.options.place.transport);
    loading.catch(() => undefined);
    return loading;
  }

  private remove(consumer: ConsumerProcess): void {
    this.settledBefore.push(...consumer.settled);
    this.running.splice(this.running.indexOf(consumer), 1);
  }
}
