import { BODY_FRAME, type Frame, HEADER_FRAME, METHOD_FRAME } from './amqp-frames.js';

/** Methods of AMQP's class 60, `basic`. */
const BASIC = 60;
const DELIVER = 60;
const ACK = 80;
const REJECT = 90;
const NACK = 120;

interface Arriving {
  readonly tag: bigint;
  length: number;
  readonly parts: Buffer[];
}

/** What is said of deliveries on one connection. */
export class Settlements {
  /** Of each channel: the message that is arriving, and the bodies of those that are not settled yet. */
  private readonly arriving = new Map<number, Arriving>();
  private readonly open = new Map<number, Map<bigint, Buffer>>();

  constructor(private readonly onSettled: (how: 'acknowledged' | 'refused', body: Buffer) => void) {}

  fromServer({ type, channel, payload }: Frame): void {
    const arriving = this.arriving.get(channel);
    if (type === METHOD_FRAME && isBasic(payload, DELIVER)) {
      // After class, method and the consumer's tag, a short string.
      const tag = payload.readBigUInt64BE(5 + payload.readUInt8(4));
      this.arriving.set(channel, { tag, length: 0, parts: [] });
    } else if (type === HEADER_FRAME && arriving) {
      arriving.length = Number(payload.readBigUInt64BE(4));
    } else if (type === BODY_FRAME && arriving) {
      arriving.parts.push(Buffer.from(payload));
      const body = Buffer.concat(arriving.parts);
      if (body.length === arriving.length) this.opened(channel).set(arriving.tag, body);
    }
  }

  fromClient({ type, channel, payload }: Frame): void {
    if (type !== METHOD_FRAME || payload.readUInt16BE(0) !== BASIC) return;
    const method = payload.readUInt16BE(2);
    if (method !== ACK && method !== NACK && method !== REJECT) return;
    const tag = payload.readBigUInt64BE(4);
    const bits = payload.readUInt8(12);
    const isMultiple = method !== REJECT && (bits & 1) === 1;
    const isRequeued = method === NACK ? (bits & 2) === 2 : method === REJECT && (bits & 1) === 1;
    const open = this.opened(channel);
    for (const [each, body] of open) {
      if (each !== tag && !(isMultiple && each < tag)) continue;
      open.delete(each);
      if (!isRequeued) this.onSettled(method === ACK ? 'acknowledged' : 'refused', body);
    }
  }

  private opened(channel: number): Map<bigint, Buffer> {
    const open = this.open.get(channel) ?? new Map<bigint, Buffer>();
    this.open.set(channel, open);
    return open;
  }
}

function isBasic(payload: Buffer, method: number): boolean {
  return payload.readUInt16BE(0) === BASIC && payload.readUInt16BE(2) === method;
}
