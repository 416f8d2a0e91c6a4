/**
 * What happens at most once: one tenant's intention, at one endpoint, under one key.
 *
 * The three parts stay apart everywhere (columns, hashes, messages); no composition of them is ever compared, so that
 * no choice of key can reach into another tenant or endpoint.
 */
export interface Operation {
  /** Whose key space. Taken from the authenticated caller, never from anything the caller can choose. */
  readonly tenant: string;
  /** Which kind of operation, such as `POST /payments/:id/refunds` or a consumer's name. */
  readonly endpoint: string;
  /** The caller's name for this one intended operation. */
  readonly key: string;
}
