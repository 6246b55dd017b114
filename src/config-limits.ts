/**
 * The settings of the API server that keep what strangers send and ask for within bounds, each for one server (replica).
 * Pure: no I/O, no clock.
 */
import { type Env, reader } from './settings.ts';

/** What requests that send bytes of uploads may take together. */
export const uploadLimits = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** Bytes of memory in which uploads wait for the storage. */
    memoryBytes: integer('UPLOAD_MEMORY_BYTES', 32 * 2 ** 20, 2 ** 20, 2 ** 34),
    /** Requests that send uploads at the same time, in all and of one account. Stock clients send twenty files at once. */
    atOnce: integer('UPLOADS_AT_ONCE', 256, 1, 100_000),
    atOnceEach: integer('UPLOADS_AT_ONCE_PER_ACCOUNT', 32, 1, 100_000),
    /** Bytes a second, averaged over 30 seconds: twenty files at once on a line of 1 Mbit/s have more each. */
    minBytesPerSecond: integer('UPLOAD_MIN_BYTES_PER_SECOND', 4096, 0),
  });
};

/** Live previews, each of which is a whole stream that nobody pays for. */
export const previewLimits = (env: Env) => {
  const { integer } = reader(env);
  return Object.freeze({
    /** Open at the same time: of one stream, of one account, in all. */
    perStream: integer('PREVIEWS_PER_STREAM', 4, 1, 100_000),
    perServer: integer('PREVIEWS_PER_SERVER', 48, 1, 100_000),
    /** Seconds after which a preview ends; whoever is still looking opens it again. */
    seconds: integer('PREVIEW_SECONDS', 600, 1, 86_400),
  });
};

/** Feeds of changes that are open at the same time, of all accounts. */
export const feedsPerServer = (env: Env): number => reader(env).integer('FEEDS_PER_SERVER', 2000, 1, 1_000_000);
