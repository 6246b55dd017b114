/** Reads Content-Encoding as servers really send it, and decodes a body by it (RFC 9110 8.4). */
import { pipeline, Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';
import { PrepareError } from '../failure/failure.ts';
import { peek } from './peek.ts';

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const CODINGS: Record<string, Coding> = {
  gzip: 'gzip',
  'x-gzip': 'gzip',
  deflate: 'deflate',
  'x-deflate': 'deflate',
  br: 'br',
  brotli: 'br',
  zstd: 'zstd',
};
/** Registered codings (IANA, HTTP Content Coding) that are not decoded here. */
const UNREADABLE = new Set(['compress', 'x-compress', 'exi', 'pack200-gzip', 'aes128gcm', 'dcb', 'dcz']);
/** Real bodies have at most two codings, and each takes memory. */
const MAX_LAYERS = 4;
const CHUNK_BYTES = 64 * 1024;
/** RFC 9659 allows 2^23 in HTTP; some senders do not know it. */
const ZSTD_WINDOW_LOG = 25;

const unreadable = (detail: string, cause?: unknown) => new PrepareError('link_unreachable', detail, { cause });

/**
 * Returns the codings of a body in the order in which they were applied. Values that are no coding are skipped: object
 * stores keep `aws-chunked` of the upload, or an empty value, and some servers name a character set; all of these send
 * plain bytes. Throws PrepareError link_unreachable.
 */
export function readCodings(header: string | string[] | undefined): Coding[] {
  const names = [header ?? []]
    .flat()
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase());
  const unknown = names.find((name) => UNREADABLE.has(name));
  if (unknown !== undefined) throw unreadable(`The server encodes the file as ${unknown}, which is not supported.`);
  const codings = names.flatMap((name) => CODINGS[name] ?? []);
  if (codings.length > MAX_LAYERS) throw unreadable('The server encodes the file too many times.');
  return codings;
}

/** RFC 1950 2.2: the two bytes of a zlib header. */
const isZlib = ([a = 0, b = 0]: Uint8Array): boolean => (a & 0x0f) === 8 && ((a << 8) | b) % 31 === 0;
const isGzip = ([a, b]: Uint8Array): boolean => a === 0x1f && b === 0x8b;
/** RFC 8878 3.1: a frame, or one to be skipped. */
const isZstd = ([a = 0, b, c, d]: Uint8Array): boolean =>
  (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) ||
  ((a & 0xf0) === 0x50 && b === 0x2a && c === 0x4d && d === 0x18);

/**
 * Returns the decoder for a body that begins with `head`; undefined where the body is not coded, whatever the header
 * says.
 */
function createDecoder(coding: Coding, head: Uint8Array): Transform | undefined {
  const options = { chunkSize: CHUNK_BYTES };
  if (coding === 'gzip') return isGzip(head) ? zlib.createGunzip(options) : undefined;
  if (coding === 'deflate') return isZlib(head) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
  if (coding === 'br') return zlib.createBrotliDecompress(options);
  const params = { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG };
  return isZstd(head) ? zlib.createZstdDecompress({ ...options, params }) : undefined;
}

async function* decodeOne(source: AsyncIterable<Buffer>, coding: Coding): AsyncGenerator<Buffer> {
  let sourceError: unknown;
  const watched = async function* () {
    try {
      yield* source;
    } catch (error) {
      sourceError = error;
      throw error;
    }
  };
  const { head, whole } = await peek(watched(), 4);
  const decoder = head.length > 0 ? createDecoder(coding, head) : undefined;
  if (!decoder) return yield* whole;
  // One piece at a time lets an outer limit stop the reading at once.
  const input = Readable.from(whole, { highWaterMark: 1 });
  pipeline(input, decoder, () => undefined);
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    if (sourceError !== undefined) throw sourceError;
    throw unreadable(`The server declares the encoding ${coding}, but the file cannot be decoded.`, error);
  } finally {
    decoder.destroy();
    input.destroy();
  }
}

/** Decodes a body. Rejects with the source's own error, or PrepareError link_unreachable. */
export const decodeBody = (source: AsyncIterable<Buffer>, codings: readonly Coding[]): AsyncIterable<Buffer> =>
  codings.reduceRight<AsyncIterable<Buffer>>((body, coding) => decodeOne(body, coding), source);
