/**
 * Verifies the checksum that a client sends with one request (tus extension checksum). Bytes of such a request count as received
 * only after the comparison.
 */
import { createHash, type Hash } from 'node:crypto';
import { AppError } from '../../lib/errors.ts';

/** Names of the protocol, with the length of each checksum in bytes. */
const ALGORITHMS: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha512: 64, md5: 16 };
export const CHECKSUM_ALGORITHMS = Object.keys(ALGORITHMS).join(',');

export interface Checksum {
  algorithm: string;
  expected: Buffer;
}

/** Reads `Upload-Checksum`. Throws `malformed_request` for an unknown algorithm, as the protocol requires. */
export function readChecksum(header: string | undefined): Checksum | undefined {
  if (header === undefined) return undefined;
  const [algorithm = '', value = '', ...rest] = header.trim().split(/\s+/);
  const bytes = Object.hasOwn(ALGORITHMS, algorithm) ? ALGORITHMS[algorithm] : undefined;
  const expected = Buffer.from(value, 'base64');
  if (bytes === undefined)
    throw new AppError(
      'malformed_request',
      `Upload-Checksum names an unknown algorithm. Use one of ${CHECKSUM_ALGORITHMS}.`,
    );
  if (expected.length !== bytes || rest.length > 0)
    throw new AppError(
      'malformed_request',
      `Upload-Checksum must be \`${algorithm}\`, a space, and the checksum in Base64.`,
    );
  return { algorithm, expected };
}

/** Passes `body` on; `check` throws `upload_checksum_mismatch` if the checksum differs. */
export function verifyBody(body: AsyncIterable<Buffer>, { algorithm, expected }: Checksum) {
  const hash: Hash = createHash(algorithm);
  return {
    body: (async function* () {
      for await (const chunk of body) {
        hash.update(chunk);
        yield chunk;
      }
    })(),
    check(): void {
      if (hash.digest().equals(expected)) return;
      throw new AppError(
        'upload_checksum_mismatch',
        'The checksum of the bytes differs from Upload-Checksum. Send the same bytes again.',
      );
    },
  };
}
