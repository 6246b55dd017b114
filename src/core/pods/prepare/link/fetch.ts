/**
 * Imports from a link: streams its content to where it is kept. A source that breaks off and cannot be continued begins
 * again.
 */
import { PrepareError } from '../failure/failure.ts';
import { Download, type FetchOptions } from './download.ts';
import { linkAgent, linkConnector } from './guard.ts';
import { BrokenOffError } from './outage.ts';

export type { FetchOptions } from './download.ts';

/** Number of times that a source begins that cannot be continued. */
const MAX_BEGINNINGS = 3;

export interface Written {
  sha256: string;
  sizeBytes: number;
}

/** Writes bytes from the first to the last; after a failure it may be called again, with the bytes from the first on. */
export type Sink = (bytes: AsyncIterable<Buffer>, signal: AbortSignal) => Promise<Written>;

export interface Fetched extends Written {
  /** The server's name of the file. */
  name?: string;
}

/**
 * Writes the content of `link` to `sink`. Rejects with PrepareError (link_unreachable, link_forbidden, link_is_a_page,
 * link_too_slow, media_too_large, prepare_timeout), the sink's error, or the signal's reason; the sink has then failed too.
 */
export async function fetchInto(sink: Sink, link: string, options: FetchOptions): Promise<Fetched> {
  const deadline = AbortSignal.timeout(options.timeoutSeconds * 1000);
  const signal = AbortSignal.any([options.signal, deadline]);
  const agent = linkAgent(options.allowPrivateLinks, options.lookup);
  const connect = linkConnector(options.allowPrivateLinks, options.lookup);
  // Also for the next beginnings.
  const lenient = { connect, origins: new Set<string>() };
  try {
    for (let beginnings = 1; ; beginnings++) {
      try {
        const download = new Download(link, { agent, lenient }, { ...options, signal });
        const written = await sink(download.bytes(), signal);
        const { name } = download;
        return { ...written, ...(name !== undefined && { name }) };
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
