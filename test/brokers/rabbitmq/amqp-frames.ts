/** One frame of AMQP 0-9-1 (section 4.2.3 of its specification). */
export interface Frame {
  readonly type: number;
  readonly channel: number;
  readonly payload: Buffer;
}

export const METHOD_FRAME = 1;
export const HEADER_FRAME = 2;
export const BODY_FRAME = 3;

const BEFORE_PAYLOAD = 7;
const AFTER_PAYLOAD = 1;

/** Cuts what comes over one direction of a connection into its frames. */
export class FrameReader {
  private rest: Buffer = Buffer.alloc(0);

  /** `toSkip`: bytes before the first frame. */
  constructor(private toSkip: number) {}

  read(chunk: Buffer): Frame[] {
    this.rest = Buffer.concat([this.rest, chunk]);
    const frames: Frame[] = [];
    if (this.rest.length < this.toSkip) return frames;
    let at = this.toSkip;
    this.toSkip = 0;
    while (this.rest.length >= at + BEFORE_PAYLOAD) {
      const end = at + BEFORE_PAYLOAD + this.rest.readUInt32BE(at + 3);
      if (this.rest.length < end + AFTER_PAYLOAD) break;
      const payload = this.rest.subarray(at + BEFORE_PAYLOAD, end);
      frames.push({ type: this.rest.readUInt8(at), channel: this.rest.readUInt16BE(at + 1), payload });
      at = end + AFTER_PAYLOAD;
    }
    this.rest = this.rest.subarray(at);
    return frames;
  }
}
