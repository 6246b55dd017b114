/**
 * Stores objects in a bucket of S3 or of a compatible server. Large objects are uploaded in parts and appear when all
 * parts are there. The client retries each request several times, with growing pauses, and continues a broken body
 * where it broke off. The bucket clears the parts of killed writers (its AbortIncompleteMultipartUpload rule).
 */
import { createReadStream, createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { addAbortSignal, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { readCredentials } from './credentials.ts';
import { isStorageKey, keySegments } from './key.ts';
import { type BodyPart, ContinuedBody } from './s3-body.ts';
import { readAnswer, s3Error } from './s3-error.ts';
import type { S3Address } from './s3-url.ts';
import { withScratchFile } from './scratch.ts';
import {
  type CredentialFiles,
  type ReadRange,
  type Storage,
  StorageError,
  type StorageOptions,
  type StoredObject,
} from './storage.ts';

/** S3 takes at most 10,000 parts: 80 GiB. Memory holds the parts on their way and the one being filled. */
const PART_BYTES = 8 * 2 ** 20;
const PARTS_AT_ONCE = 3;
const CONNECT_TIMEOUT_MS = 5000;
/** Without a byte for this long, a connection counts as lost. */
const IDLE_TIMEOUT_MS = 30_000;
/** The client's pauses between attempts: up to 0.1 s, 0.2 s, 0.4 s and 0.8 s, at random. */
const ATTEMPTS = 5;
const HTTP_FORBIDDEN = 403;
const HTTP_NOT_FOUND = 404;
const HTTP_RANGE_NOT_SATISFIABLE = 416;

export class S3Storage implements Storage {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  readonly #scratchDir: string;
  readonly #inputDir: string;
  #bucketSeen = false;

  constructor(address: S3Address, { credentials, scratchDir = tmpdir(), inputDir = scratchDir }: StorageOptions = {}) {
    this.#bucket = address.bucket;
    this.#prefix = address.prefix;
    this.#scratchDir = scratchDir;
    this.#inputDir = inputDir;
    this.#client = new S3Client({
      region: address.region,
      forcePathStyle: address.forcePathStyle,
      maxAttempts: ATTEMPTS,
      retryMode: 'standard',
      requestHandler: { connectionTimeout: CONNECT_TIMEOUT_MS, socketTimeout: IDLE_TIMEOUT_MS },
      // Checksums in trailers are Amazon's own; other servers refuse them. The signature covers the body anyway.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      ...(address.endpoint && { endpoint: address.endpoint }),
      ...(credentials && { credentials: 'directory' in credentials ? fromFiles(credentials) : { ...credentials } }),
    });
  }

  #target(key: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + keySegments(key).join('/') };
  }

  #error(error: unknown, key: string): unknown {
    return readAnswer(error).name === 'NoSuchKey' ? notFound(key) : s3Error(error, this.#bucket);
  }

  async head(key: string): Promise<StoredObject | undefined> {
    const target = this.#target(key);
    try {
      const { ContentLength = 0, LastModified, ETag } = await this.#client.send(new HeadObjectCommand(target));
      const modifiedAt = LastModified ?? new Date(0);
      return { sizeBytes: ContentLength, modifiedAt, version: ETag ?? `${ContentLength}-${modifiedAt.getTime()}` };
    } catch (error) {
      if (readAnswer(error).status !== HTTP_NOT_FOUND) throw this.#error(error, key);
      await this.#requireBucket();
      return undefined;
    }
  }

  /** An answer to HEAD has no body. A second request tells a missing object from a missing bucket or account. */
  async #requireBucket(): Promise<void> {
    if (this.#bucketSeen) return;
    try {
      await this.#client.send(new ListObjectsV2Command({ Bucket: this.#bucket, Prefix: this.#prefix, MaxKeys: 1 }));
    } catch (error) {
      // Rights to the objects need not include this request.
      if (readAnswer(error).status !== HTTP_FORBIDDEN) throw s3Error(error, this.#bucket);
    }
    this.#bucketSeen = true;
  }

  async read(
    key: string,
    { start = 0, end = Number.POSITIVE_INFINITY, version }: ReadRange = {},
    signal?: AbortSignal,
  ) {
    if (end <= start) {
      if (!(await this.head(key))) throw notFound(key);
      return Readable.from([]);
    }
    const target = this.#target(key);
    const fail = (error: unknown) => this.#error(error, key);
    const first = await this.#get(target, start, end, { signal, etag: version }).catch((error: unknown) => {
      throw fail(error);
    });
    if (!first) return Readable.from([]);
    const goOn = async (offset: number) =>
      // S3 ignores an empty range and returns the whole object.
      start + offset < end ? this.#get(target, start + offset, end, { signal, etag: first.etag }) : undefined;
    const body = new ContinuedBody(first, goOn, fail);
    const stream = Readable.from(body.chunks(signal), { objectMode: false });
    // A reader may never start, and then the generator never runs.
    stream.once('close', () => body.destroy());
    return signal ? addAbortSignal(signal, stream) : stream;
  }

  /**
   * Sends one request for [start, end); undefined when the object ends before `start`. Rejects with the SDK's errors.
   */
  async #get(
    target: { Bucket: string; Key: string },
    start: number,
    end: number,
    { signal, etag }: { signal: AbortSignal | undefined; etag?: string | undefined },
  ): Promise<BodyPart | undefined> {
    // The last byte of a Range is inclusive, the storage's end is not. A read of the whole object has no Range: an
    // empty object has none.
    const last = Number.isFinite(end) ? end - 1 : '';
    const command = new GetObjectCommand({
      ...target,
      ...((start > 0 || last !== '') && { Range: `bytes=${start}-${last}` }),
      ...(etag && { IfMatch: etag }),
    });
    try {
      const { Body, ETag } = await this.#client.send(command, { ...(signal && { abortSignal: signal }) });
      return { body: Body as Readable, etag: ETag };
    } catch (error) {
      if (readAnswer(error).status === HTTP_RANGE_NOT_SATISFIABLE) return undefined;
      throw error;
    }
  }

  async write(key: string, body: Readable | Buffer, signal?: AbortSignal): Promise<void> {
    const target = this.#target(key);
    signal?.throwIfAborted();
    if (body instanceof Readable) {
      // The upload reports the error; without a listener, an error between two reads would end the process.
      body.on('error', () => undefined);
      // The upload then fails by its body and removes its parts; its own abort would not wait for that.
      if (signal) addAbortSignal(signal, body);
    }
    const upload = new Upload({
      client: this.#client,
      params: { ...target, Body: body },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    });
    try {
      await upload.done();
    } catch (error) {
      // An error of the body is not the storage's.
      throw (body instanceof Readable && body.errored) || this.#error(error, key);
    } finally {
      if (body instanceof Readable) body.destroy();
    }
  }

  async publish(key: string, fill: (path: string) => Promise<void>, complete = () => key): Promise<void> {
    keySegments(key);
    await withScratchFile(this.#scratchDir, async (path) => {
      await writeFile(path, '', { flag: 'wx' });
      await fill(path);
      await this.write(complete(), createReadStream(path, { highWaterMark: 2 ** 20 }));
    });
  }

  withLocalFile<T>(key: string, use: (path: string) => Promise<T>): Promise<T> {
    return withScratchFile(this.#inputDir, async (path) => {
      await pipeline(await this.read(key), createWriteStream(path));
      return use(path);
    });
  }

  async delete(key: string): Promise<void> {
    const target = this.#target(key);
    try {
      await this.#client.send(new DeleteObjectCommand(target));
    } catch (error) {
      if (readAnswer(error).name !== 'NoSuchKey') throw this.#error(error, key);
    }
  }

  async *list(prefix: string): AsyncIterable<string> {
    const slash = prefix.lastIndexOf('/');
    if (slash >= 0) keySegments(prefix.slice(0, slash));
    const query = { Bucket: this.#bucket, Prefix: this.#prefix + prefix };
    for (let token: string | undefined, more = true; more; more = token !== undefined) {
      const command = new ListObjectsV2Command({ ...query, ...(token && { ContinuationToken: token }) });
      const page = await this.#client.send(command).catch((error: unknown) => {
        throw this.#error(error, prefix);
      });
      for (const { Key = '' } of page.Contents ?? []) {
        const key = Key.slice(this.#prefix.length);
        // Other users' objects in the bucket may have names that are not valid keys.
        if (isStorageKey(key)) yield key;
      }
      token = page.NextContinuationToken;
    }
  }
}

/**
 * The SDK refreshes credentials five minutes before they expire: with this value once a minute, and only when it signs.
 */
const RENEW_MS = 6 * 60_000;
const fromFiles =
  ({ directory }: CredentialFiles) =>
  async () => ({ ...(await readCredentials(directory)), expiration: new Date(Date.now() + RENEW_MS) });

const notFound = (key: string) => new StorageError('not_found', `Object ${key} does not exist.`);
