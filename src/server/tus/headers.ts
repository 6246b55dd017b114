/**
 * The headers of tus requests as clients really send them, put as the library takes them. Only those of the protocol get through,
 * so that a proxy's headers cannot fail a request. Pure: no I/O, no clock.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { BYTES } from '../../domain/uploads/resumable.ts';

/** All but those of concatenation and checksum, which the library does not know. */
const PROTOCOL = ['tus-resumable', 'upload-offset', 'upload-length', 'upload-defer-length', 'content-length'];

/** Whether a body is bytes of an upload. A creation may carry any other type, which the protocol gives no meaning. */
export const isBytes = (contentType: string | undefined): boolean =>
  contentType?.split(';', 1)[0]?.trim().toLowerCase() === BYTES;

/** The value in Base64 as RFC 4648, section 4 has it: some encoders leave out the padding, some use the alphabet for URLs. */
function padBase64(value: string): string {
  const usual = value.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  return usual.padEnd(Math.ceil(usual.length / 4) * 4, '=');
}

/** `Upload-Metadata` without spaces around its commas and without empty pairs; undefined where nothing is left. */
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
