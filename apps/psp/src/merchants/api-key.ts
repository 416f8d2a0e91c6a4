import { createHash } from 'node:crypto';

/** The credentials of `Authorization: Bearer <key>`; the scheme's name is case-insensitive (RFC 9110). */
export const bearerToken = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];

/** Whose key it is. The key itself is stored nowhere: its hash names the merchant. */
export const merchantIdOf = (apiKey: string): string =>
  `mer_${createHash('sha256').update(apiKey).digest('hex').slice(0, 24)}`;
