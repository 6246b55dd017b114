/**
 * Normalizes the headers of real tus clients for the library. Only those of the protocol pass, so that a proxy's headers cannot
 * fail a request. Pure: no I/O, no clock.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { BYTES } from '../../domain/uploads/resumable.ts';

/** Leaves out concatenation and checksum, which the library does not know. */
const PROTOCOL = ['tus-resumable', 'upload-offset', 'upload-length', 'upload-defer-length', 'content-length'];

/** Returns whether a body is bytes of an upload. A creation may have any other type, which the protocol ignores. */
export const isBytes = (contentType: string | undefined): boolean =>
  contentType?.split(';', 1)[0]?.trim().toLowerCase() === BYTES;

/** Returns Base64 as in RFC 4648, section 4: some encoders omit the padding, some use the alphabet for URLs. */
function padBase64(value: string): string {
  // An expression for the end (`=+$`) would begin anew at each sign of padding within.
  let end = value.length;
  while (value[end - 1] === '=') end--;
  const usual = value.slice(0, end).replaceAll('-', '+').replaceAll('_', '/');
  return usual.padEnd(Math.ceil(usual.length / 4) * 4, '=');
}

/** Removes spaces around commas and empty pairs from `Upload-Metadata`; undefined if nothing is left. */
export function tidyMetadata(text: string): string | undefined {
  const pairs = text.split(',').map((pair) => pair.trim());
  const tidy = pairs.filter(Boolean).map((pair) => {
    const [key = '', ...values] = pair.split(/\s+/);
    return values.length === 1 ? `${key} ${padBase64(values[0] ?? '')}` : [key, ...values].join(' ');
  });
  return tidy.length > 0 ? tidy.join(',') : undefined;
}

const first = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

export function protocolHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  const found = PROTOCOL.flatMap((name): [string, string][] => {
    const value = first(headers[name]);
    return value === undefined ? [] : [[name, value]];
  });
  const metadata = tidyMetadata(first(headers['upload-metadata']) ?? '');
  return {
    ...Object.fromEntries(found),
    ...(metadata !== undefined && { 'upload-metadata': metadata }),
    ...(isBytes(headers['content-type']) && { 'content-type': BYTES }),
  };
}
