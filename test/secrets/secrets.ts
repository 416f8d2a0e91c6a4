import { createHash, randomBytes } from 'node:crypto';

/** Where something can be found afterwards. */
export type Place =
  /** A line that the application logged, or anything else that its process wrote. */
  | 'log'
  /** A statement as the database shows it to whoever may look. */
  | 'statement'
  /** An answer of the handler's own. */
  | 'answer'
  | 'replay'
  /** A problem, its headers included. */
  | 'problem'
  /** A column of the library's tables. */
  | `column ${string}`;

/**
 * Everything confidential that a request can carry or an application can hold, and where it may stand: there it has to
 * be found, so that nobody looks in vain, and nowhere else.
 */
export const MAY_STAND = {
  'the Authorization header': [],
  'the Cookie header': [],
  'a request header that counts for the fingerprint': [],
  'a field of the request body': [],
  'the query': [],
  'a key that is no valid key': [],
  // The problem of a refused step is recorded, as every refusal of a handler is.
  'the path': ['problem', 'replay', 'column response_body'],
  'the key': ['column key'],
  'the tenant': ['column tenant'],

  'the Set-Cookie header': ['answer'],
  'a response header that nobody asked to keep': ['answer'],
  'the Location header': ['answer', 'replay', 'column response_headers', 'column resource'],
  'the body of an answer': ['answer', 'replay', 'column response_body'],
  'the body of a refusal': ['answer', 'replay', 'column response_body'],
  'a body of which only the status is recorded': ['answer'],
  'a body that is encrypted at rest': ['answer', 'replay'],
  'the key that bodies are encrypted under': [],

  'the answer of work that lost its claim': [],
  'the answer of work that could not be recorded': [],
  'the answer of work whose COMMIT failed': [],
  'the answer of work that broke its transaction': [],

  // The framework logs what a handler throws, with the library or without.
  'the message of an error': ['log'],
  'a parameter of a statement that failed': ['log'],
  'a parameter of a statement whose failure was swallowed': [],
  'a value that a constraint refused at the COMMIT': [],
  // What the application's own functions throw is told to its operators, and to nobody else.
  'the message of an error in afterCommit': ['log'],
  'the message of an error in a fingerprint function': ['log'],
  'the message of an error in the tenant resolver': ['log'],
  'the message of an error in authorizeReplay': ['log'],
  'the message of an error in protect': ['log'],

  // Kept for the attempts to come, until the operation is recorded.
  'the result of a step': ['column result'],
  'what a provider refused a step with': [],
  'the failure of a step that may have happened': [],
  'the secret that provider keys are made with': [],

  'a parameter of a stray write': [],
  // The database was shown it by the handler.
  'a literal of a stray write': ['statement'],
  'the password of the database': [],
} as const satisfies Record<string, readonly Place[]>;

export type SecretName = keyof typeof MAY_STAND;
export const SECRET_NAMES = Object.keys(MAY_STAND) as SecretName[];

/** One text for each, of letters and digits only, so that no escaping hides it. */
export type Secrets = Readonly<Record<SecretName, string>>;

export function freshSecrets(): Secrets {
  const entries = SECRET_NAMES.map((name, at) => [name, `s${at}x${randomBytes(12).toString('hex')}`]);
  return Object.fromEntries(entries) as Secrets;
}

/** The bytes by which a secret is recognised: of most its text, of the encryption key what is made of it. */
export function bytesOf(name: SecretName, secrets: Secrets): Buffer {
  return name === 'the key that bodies are encrypted under' ? encryptionKey(secrets) : Buffer.from(secrets[name]);
}

export function encryptionKey(secrets: Secrets): Buffer {
  return createHash('sha256').update(secrets['the key that bodies are encrypted under']).digest();
}

/** The ways in which bytes are written as text, wherever in a longer text they stand. */
export function tracesOf(bytes: Buffer): string[] {
  const base64 = [0, 1, 2].map((shift) => {
    // The characters at both ends depend on the neighbours as well.
    const text = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    return text.slice(shift === 0 ? 0 : shift + 1, -2);
  });
  return [bytes.toString('latin1'), bytes.toString('hex'), ...base64];
}
