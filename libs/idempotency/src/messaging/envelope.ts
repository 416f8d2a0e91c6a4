/** One delivered message: what it carries, and what is said of it beside that. */
export interface Envelope {
  readonly payload: unknown;
  /** Headers or properties, whatever the transport calls them; names are compared without their case. */
  readonly headers?: Readonly<Record<string, unknown>>;
  /**
   * The id that the sender gave the message where the transport has a field for it, such as AMQP's `message-id`. Never
   * a number that the transport gave it, which is another one for each delivery.
   */
  readonly messageId?: string;
}

/** The text of a header; undefined where there is none, or it is no text. Bytes are read as UTF-8. */
export function headerText({ headers }: Envelope, name: string): string | undefined {
  const lowerName = name.toLowerCase();
  for (const [given, value] of Object.entries(headers ?? {})) {
    if (given.toLowerCase() === lowerName) return textOf(value);
  }
  return undefined;
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  return undefined;
}
