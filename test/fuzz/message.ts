/** A request as its bytes, without the lines that tell it from others. */
export interface Message {
  readonly method: string;
  /** One character a byte, as is everything of the head. */
  readonly target: string;
  readonly lines: readonly (readonly [name: string, value: string])[];
  /** What follows the head, in its framing. */
  readonly payload: Buffer;
  /** The payload is sent when the server has had time to read the head. */
  readonly isSplit: boolean;
  /** The server cannot know where it ends, or will wait for more: whoever sends it hangs up afterwards. */
  readonly isEndless: boolean;
}

/** The bytes of a message's head, marked so that what it does can be found. */
export function headOf({ method, target, lines }: Message, mark: string): Buffer {
  const head = [
    `${method} ${target} HTTP/1.1`,
    'Host: fuzz.test',
    'Connection: close',
    `X-Mark: ${mark}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** How it is shown where it failed. */
export function shown(message: Message): string {
  const bytes = Buffer.concat([headOf(message, '0'), message.payload]);
  const text = JSON.stringify(bytes.subarray(0, 2_000).toString('latin1'));
  const how = `${message.isSplit ? ' (in two parts)' : ''}${message.isEndless ? ' (endless)' : ''}`;
  return `${text}${how}${bytes.length > 2_000 ? ` … ${bytes.length} bytes` : ''}`;
}
