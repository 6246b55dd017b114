/**
 * The sum that a client sends of the bytes of one request (tus extension checksum). Nothing of a request with a sum counts as come
 * before the sum has been compared.
 */
import { createHash, type Hash } from 'node:crypto';
import { AppError } from '../../lib/errors.ts';

/** By the names that the protocol gives them: bytes of a sum. */
const ALGORITHMS: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha512: 64, md5: 16 };
export const CHECKSUM_ALGORITHMS = Object.keys(ALGORITHMS).join(',');

export interface Checksum {
  algorithm: string;
  expected: Buffer;
}

/** Reads `Upload-Checksum`. Throws `malformed_request`, with which the protocol answers an algorithm that it does not know. */
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

/** Passes `body` on; `check` throws `upload_checksum_mismatch` where what came has another sum. */
export function summed(body: AsyncIterable<Buffer>, { algorithm, expected }: Checksum) {
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
