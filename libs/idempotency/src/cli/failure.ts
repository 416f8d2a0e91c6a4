import { sqlState } from '../storage/postgres-errors.js';

/** What the process ends with; part of the public contract. */
export const EXIT = { done: 0, refused: 1, usage: 2, unavailable: 3, interrupted: 130 } as const;

/** The stable names of what is answered `refused` under `--json`. */
export type RefusalReason =
  | 'not_found'
  | 'moved_on'
  | 'not_confirmed'
  | 'lease_is_live'
  | 'not_in_progress'
  | 'not_completed'
  | 'result_is_known';

/** A command that comes to no good end. Its message names the remedy. */
export class Failure extends Error {
  override readonly name = 'Failure';

  constructor(
    readonly exitCode: 1 | 2 | 3,
    message: string,
    readonly reason?: RefusalReason,
  ) {
    super(message);
  }
}

/** The operation is not what the command is for; nothing was changed. */
export function refused(reason: RefusalReason, message: string): Failure {
  return new Failure(EXIT.refused, message, reason);
}

/** It was asked for in a way that cannot be right. */
export function misused(message: string): Failure {
  return new Failure(EXIT.usage, message);
}

/** The database is away, or cannot serve. */
export function unavailable(message: string): Failure {
  return new Failure(EXIT.unavailable, message);
}

/** What SQLSTATEs mean for an operator. */
const REMEDIES: Readonly<Record<string, string>> = {
  '28P01': 'The server refused the login. Look at the user and the password.',
  '28000': 'The server refused the login. Look at the user, and at its pg_hba.conf.',
  '3D000': 'There is no such database on the server.',
  '42501': 'This role may not do that. Take the role of the application, or grant what is missing.',
  '57014': 'It took too long. Narrow it by --tenant and --endpoint, or give it longer by --timeout.',
  '25006': 'The server can only be read. Connect to the primary.',
  '53300': 'The server has no connection left.',
};

/** Any error as a failure: what the server or the network says, and what can be done about it. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const state = sqlState(error);
  if (state !== undefined) {
    const said = `The database says: ${messageOf(error)} (${state}).`;
    return unavailable(REMEDIES[state] === undefined ? said : `${REMEDIES[state]} ${said}`);
  }
  if (isSilence(error)) {
    return unavailable(`The database did not answer: ${messageOf(error)}. Look at --url, and whether it runs.`);
  }
  return unavailable(`Something went wrong: ${messageOf(error)}.`);
}

/** What comes of the network, and not of a server: the operating system's errors have a code, the driver's have none. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof Error) || sqlState(error) !== undefined) return false;
  const { code, driverError } = error as { readonly code?: unknown; readonly driverError?: unknown };
  return typeof code === 'string' || isSilence(driverError) || /terminated|timeout/i.test(error.message);
}

function messageOf(error: unknown): string {
  // One error for each address that was tried.
  if (error instanceof AggregateError && error.message === '') return messageOf(error.errors[0]);
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\.$/, '');
}
