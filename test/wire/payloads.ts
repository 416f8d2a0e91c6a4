import { Readable } from 'node:stream';
import { Exclude } from 'class-transformer';

export const RECORDING_LIMIT_BYTES = 64 * 1024;

/** Larger than what is recorded, and not what a compressor would make small. */
export const OVERSIZED = Buffer.from(
  Array.from({ length: 5 * RECORDING_LIMIT_BYTES }, (_, index) => (index * 7919 + (index >> 5) * 104_729) & 0xff),
);

export const PAYMENT = { id: 42, amount: '9.99', note: 'Grüße, 世界 🎉', tags: ['a', 'b'], nothing: null };

export const PASSWORD = 'correct-horse-battery-staple';

/** What a serializer must take the password from. */
export class Account {
  readonly id = 7;
  readonly name = 'Ada';

  @Exclude()
  readonly password = PASSWORD;
}

export const circular: Record<string, unknown> = { name: 'circle' };
circular.self = circular;

export const BINARY = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

/** A stream that gives these chunks, one a turn. */
export function streamOf(...chunks: (string | Buffer)[]): Readable {
  return Readable.from(chunks, { objectMode: false });
}

/** A stream that fails after these chunks. */
export function failingStreamOf(...chunks: string[]): Readable {
  const left = [...chunks];
  return new Readable({
    read() {
      const chunk = left.shift();
      if (chunk === undefined) this.destroy(new Error('The source broke.'));
      else setImmediate(() => this.push(chunk));
    },
  });
}
