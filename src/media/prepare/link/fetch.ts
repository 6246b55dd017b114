/**
 * Imports from a link: streams its content into storage while hashing it. A source that breaks off and cannot be
 * continued begins again.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Storage } from '../../storage/storage.ts';
import { PrepareError } from '../failure.ts';
import { Download, type FetchOptions } from './download.ts';
import { linkAgent } from './guard.ts';
import { BrokenOffError } from './outage.ts';

export type { FetchOptions } from './download.ts';

/** Number of times that a source begins that cannot be continued. */
const MAX_BEGINNINGS = 3;
const BUFFER_BYTES = 2 ** 20;

export interface Fetched {
  sha256: string;
  sizeBytes: number;
  /** The server's name of the file. */
  name?: string;
}

/**
 * Writes the content of `link` to `key`. Rejects with PrepareError (link_unreachable, link_forbidden, link_is_a_page,
 * link_too_slow, media_too_large, prepare_timeout), StorageError, or the signal's reason; the object is then not
 * written.
 */
export async function fetchInto(
  storage: Pick<Storage, 'write'>,
  key: string,
  link: string,
  options: FetchOptions,
): Promise<Fetched> {
  const deadline = AbortSignal.timeout(options.timeoutSeconds * 1000);
  const signal = AbortSignal.any([options.signal, deadline]);
  const agent = linkAgent(options.allowPrivateLinks, options.lookup);
  try {
    for (let beginnings = 1; ; beginnings++) {
      try {
        return await writeOnce(storage, key, new Download(link, agent, { ...options, signal }), signal);
      } catch (error) {
        if (!(error instanceof BrokenOffError)) throw error;
        // A server that breaks off each time may be in trouble, and well again later.
        const later = { cause: error, retryAfterSeconds: 0 };
        if (beginnings >= MAX_BEGINNINGS) throw new PrepareError('link_unreachable', error.message, later);
        options.log.info({ reason: error.message }, 'restarting the download');
      }
    }
  } catch (error) {
    if (options.signal.aborted) throw options.signal.reason;
    if (deadline.aborted) {
      throw new PrepareError(
        'prepare_timeout',
        `It did not arrive within ${options.timeoutSeconds} s. Import it from a faster server, or import a shorter file.`,
      );
    }
    throw error;
  } finally {
    await agent.destroy();
  }
}

async function writeOnce(
  storage: Pick<Storage, 'write'>,
  key: string,
  source: Download,
  signal: AbortSignal,
): Promise<Fetched> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const hashed = async function* () {
    for await (const chunk of source.bytes()) {
      sizeBytes += chunk.length;
      hash.update(chunk);
      yield chunk;
    }
  };
  await storage.write(key, Readable.from(hashed(), { objectMode: false, highWaterMark: BUFFER_BYTES }), signal);
  const { name } = source;
  return { sha256: hash.digest('hex'), sizeBytes, ...(name !== undefined && { name }) };
}
