import type { RecordDetail } from '../storage/postgres-repair.js';
import { columns, printable } from './output.js';

/** The recording as `--json` shows it; null where there is none. */
export function responseDocument(record: RecordDetail, withBody: boolean) {
  const { status, headers, bodyBytes, body, omitted, keyId, resource } = record;
  if (status === null) return null;
  return {
    status,
    headers: JSON.parse(headers ?? '[]') as [name: string, value: string][],
    bodyBytes,
    omitted,
    encryptedUnder: keyId,
    resource,
    ...(withBody && body && keyId === null && { body: bodyDocument(body) }),
  };
}

/** The recording as people read it, a line each. */
export function responseLines(record: RecordDetail, withBody: boolean): string[] {
  const { status, headers, body, keyId, resource } = record;
  if (status === null) return [];
  const recorded = JSON.parse(headers ?? '[]') as [name: string, value: string][];
  return [
    ...columns([
      ['status', String(status)],
      ...recorded.map(([name, value]): [string, string] => ['header', printable(`${name}: ${value}`)]),
      ['body', bodyText(record)],
      ['resource', resource === null ? '-' : printable(resource)],
    ]),
    ...(withBody && body && keyId === null ? ['', bodyDocument(body).text.replace(/[^\n]+/g, printable)] : []),
  ];
}

function bodyText({ bodyBytes, omitted, keyId }: RecordDetail): string {
  if (omitted !== null) return `left out (${omitted}); a retry is told that there was one`;
  if (bodyBytes === null) return 'none';
  return keyId === null ? `${bodyBytes} bytes` : `${bodyBytes} bytes, encrypted under the key '${printable(keyId)}'`;
}

function bodyDocument(body: Buffer): { readonly encoding: 'utf8' | 'base64'; readonly text: string } {
  const text = body.toString('utf8');
  if (Buffer.from(text, 'utf8').equals(body)) return { encoding: 'utf8', text };
  return { encoding: 'base64', text: body.toString('base64') };
}
