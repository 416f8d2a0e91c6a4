import { createHash } from 'node:crypto';

/** API keys are long and random, so a fast hash is enough: there is no dictionary to try. */
export const hashApiKey = (apiKey: string): string => createHash('sha256').update(apiKey).digest('hex');

/** The credentials of `Authorization: Bearer <key>`; the scheme's name is case-insensitive (RFC 9110). */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
