/** What the fingerprint of a request is made from: all that decides what the handler is given. */
export interface RequestContent {
  readonly method: string;
  /** The endpoint's pattern, such as `/payments/:id/refunds`. */
  readonly pattern: string;
  readonly params: unknown;
  /** What the host that was asked gave as parameters; undefined where the endpoint has none. */
  readonly hosts?: unknown;
  readonly query: unknown;
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly contentType: string | undefined;
  /** Whether the message has a body, whatever the application's parsers made of it. */
  readonly hasBody: boolean;
  /** The body as the application's parsers left it. */
  readonly body: unknown;
  /** The body's bytes, where the application kept them. */
  readonly rawBody: unknown;
}
